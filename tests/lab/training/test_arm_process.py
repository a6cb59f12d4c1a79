import io
import json
import logging
import sys
from dataclasses import asdict

import pytest
import torch

from lab.training import arm_process
from lab.training.arm_process import TrainingArm
from lab.training.steps import Stepper
from lab.training.strategies import Replicas
from tests.helpers import write_data

STEPS = 3


@pytest.fixture
def turns(project, monkeypatch, capsys):
    """What the process of an arm answers to two lines, in this process: seconds per step."""
    write_data(project / "data", train=70, test=10)

    def take(**arm):
        asked = TrainingArm(
            **{"batch_size": 8, "steps": STEPS, "device": "cpu", "threads": 1} | arm
        )
        monkeypatch.setattr(sys, "argv", ["arm_process", json.dumps(asdict(asked))])
        monkeypatch.setattr(sys, "stdin", io.StringIO("go\ngo\n"))
        arm_process.main()
        return [float(line) for line in capsys.readouterr().out.split()]

    deterministic = torch.backends.cudnn.deterministic
    yield take
    logging.disable(logging.NOTSET)
    torch.backends.cudnn.deterministic = deterministic


@pytest.fixture
def seconds(monkeypatch):
    """A clock by which nothing takes time but a step of an arm: it takes one second."""
    now = [0.0]
    monkeypatch.setattr(arm_process, "read_clock", lambda devices: now[0])
    return now


def counted(monkeypatch, owner, name, seconds):
    """The calls of a function, each of which takes a second."""
    calls, function = [], getattr(owner, name)

    def call(*arguments, **settings):
        calls.append(arguments)
        seconds[0] += 1
        return function(*arguments, **settings)

    monkeypatch.setattr(owner, name, call)
    return calls


def test_the_engine_takes_trainings_own_steps_a_new_order_in_each_turn(turns, monkeypatch, seconds):
    """One before the clock starts and then those that count, on whole batches, as training does."""
    taken, take = [], Stepper.take

    def remember(stepper, batches, losses, first=0):
        assert torch.backends.cudnn.deterministic, "as in training"
        start = seconds[0]
        take(stepper, batches, losses, first, on_step=lambda images: seconds.append(images))
        seconds[0] = start + len(batches) - first
        taken.append((first, batches))

    torch.backends.cudnn.deterministic = False
    monkeypatch.setattr(Stepper, "take", remember)
    assert turns(kind="replicas", net="lenet", num_devices=2, precision="bf16") == [1.0, 1.0]
    assert [(first, len(batches)) for first, batches in taken] == [(0, 1), (1, 1 + STEPS)] * 2
    assert set(seconds[1:]) == {8}
    orders = [torch.cat(batches).tolist() for first, batches in taken if first]
    assert orders[0] != orders[1]
    assert all(len(set(order)) == 8 * (1 + STEPS) for order in orders)


def test_a_turn_ends_with_its_epoch(turns, monkeypatch, seconds):
    """70 images are 8 whole batches: no smaller one is timed, and the mean is of those taken."""
    steps_taken = counted(monkeypatch, Replicas, "step", seconds)
    assert turns(kind="replicas", net="lenet", steps=100) == [1.0, 1.0]
    _warm_up, *timed = [len(arguments[1]) for arguments in steps_taken]
    assert timed == [8] * 16
    sgd = counted(monkeypatch, arm_process, "sgd", seconds)
    assert turns(kind="book", net="lenet", steps=100) == [1.0, 1.0]
    assert len(sgd) == 2 * 9, "the notes' loop has the smaller batch, too"


def test_the_notes_loop_takes_plain_steps_of_sgd(turns, monkeypatch, seconds):
    calls = counted(monkeypatch, arm_process, "sgd", seconds)
    assert turns(kind="book", net="lenet", num_workers=0) == [1.0, 1.0]
    assert [batch_size for _, _, batch_size in calls] == [8] * 2 * (1 + STEPS)


def test_a_product_is_a_step(turns, monkeypatch, seconds):
    calls = counted(monkeypatch, torch, "mm", seconds)
    assert turns(kind="product", net="") == [1.0, 1.0]
    assert len(calls) == 2 * (1 + STEPS)
