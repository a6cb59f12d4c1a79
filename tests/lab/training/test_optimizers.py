"""Each optimizer in a training run: torch's steps, and the same bits after an interruption."""

import functools
import io
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lab.machine.devices import Devices
from lab.optim.update_rules import RULES
from lab.parallel.local_ranks import run_on_ranks
from lab.training.checkpoints import tensors_in
from lab.training.processes import Group
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
from lab.training.update_steps import updates_of
from tests.helpers import recipe
from tests.lab.training.strategy_ranks import CPU, batch, part_of_a_run
from tests.oracle import assert_close

TORCHS = {  # by a recipe's optimizer and weight decay, with the constants of lab.optim
    ("sgd", 0.0): lambda groups: torch.optim.SGD(groups, 0.05),
    ("sgd", 0.01): lambda groups: torch.optim.SGD(groups, 0.05),
    ("momentum", 0.01): lambda groups: torch.optim.SGD(groups, 0.05, momentum=0.8),
    ("nesterov", 0.01): lambda groups: torch.optim.SGD(groups, 0.05, momentum=0.8, nesterov=True),
    ("adadelta", 0.01): lambda groups: torch.optim.Adadelta(groups, 0.05, 0.9, 1e-5),
    ("adam", 0.01): lambda groups: torch.optim.Adam(groups, 0.05, eps=1e-6),
    ("adamw", 0.01): lambda groups: torch.optim.AdamW(groups, 0.05),
}


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 3, 5, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(192, 10)
    )


@pytest.mark.parametrize(("optimizer", "decay"), TORCHS)
def test_a_recipes_optimizer_matches_torchs_and_decays_only_weights(optimizer, decay):
    torch.manual_seed(1)
    ours = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    theirs = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    theirs.load_state_dict(ours.state_dict())
    update = updates_of(ours, recipe(optimizer=optimizer, weight_decay=decay, momentum=0.8))
    by_kind = ([p for p in theirs.parameters() if (p.ndim > 1) == many] for many in (True, False))
    groups = [
        {"params": params, "weight_decay": each}
        for params, each in zip(by_kind, (decay, 0.0), strict=True)
    ]
    optimizer = TORCHS[optimizer, decay](groups)
    for _ in range(30):
        X, y = torch.randn(12, 6, dtype=torch.float64), torch.randint(3, (12,))
        F.cross_entropy(ours(X), y, reduction="sum").backward()
        update(ours.parameters(), 0.05, 12)
        optimizer.zero_grad()
        F.cross_entropy(theirs(X), y).backward()
        optimizer.step()
    assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


def trained(how, num_devices, saved=b"", steps=None, processes=None):
    """Return a run's state after `steps` more steps, or at its end, as `torch.save` writes it."""
    asked = recipe(batch_size=16, lr=0.01, weight_decay=1e-3, num_epochs=2, **how)
    model, step = model_and_step(net(), [CPU] * num_devices, asked, processes)
    state = tensors_in(saved) if saved else None
    content = io.BytesIO()
    torch.save(part_of_a_run(Trainer(model, step, batch(40)), batch(20), state, steps), content)
    model.close()
    return content.getvalue()


def bits(saved):
    """Return the bytes of all that training changes, except times and resumption."""
    state = tensors_in(saved)
    tensors = [*state["params"].values(), *(b for each in state["buffers"] for b in each.values())]
    tensors += [part for parts in state["updates"] for part in parts]
    return [tensor.numpy().tobytes() for tensor in tensors], [e[:3] for e in state["epochs"]]


WAYS = {"whole": {}, "shards": {"shards": 4}}


def as_a_rank(device):
    """Train as a rank, with each optimizer and way.

    Return the results without and with an interruption after four steps of six, and whether all
    ranks have the same optimizer state.
    """
    group, found = Group(), {}
    for way, optimizer in product(WAYS, RULES):
        train = functools.partial(
            trained, {"optimizer": optimizer, "strategy": "ddp", **WAYS[way]}, 1, processes=group
        )
        state, again = train(), train(train(steps=4))
        parts = [part for parts in tensors_in(state)["updates"] for part in parts]
        alike = all(torch.equal(theirs, part) for part in parts for theirs in group.gathered(part))
        found[way, optimizer] = state, again, group.largest(0 if alike else 1) == 0
    return found


@pytest.fixture(scope="module")
def on_ranks():
    return run_on_ranks(2, Devices("cpu-virtual", [CPU] * 2, 1), as_a_rank)


@pytest.mark.parametrize("optimizer", RULES)
@pytest.mark.parametrize(
    ("strategy", "num_devices"), [("replicas", 1), ("replicas", 2), ("graph", 1)]
)
def test_an_interrupted_run_ends_with_the_same_bits(optimizer, strategy, num_devices, one_thread):
    how = {"optimizer": optimizer, "strategy": strategy}
    whole = bits(trained(how, num_devices))
    saved = trained(how, num_devices, steps=4)
    assert bits(saved) != whole
    assert bits(trained(how, num_devices, saved)) == whole


@pytest.mark.parametrize("optimizer", RULES)
def test_in_shards_any_number_of_devices_gives_the_bits_of_one(optimizer, one_thread):
    how = {"optimizer": optimizer, "shards": 4}
    whole = bits(trained(how, 1))
    saved = trained(how, 4, steps=4)
    assert bits(trained(how, 2, saved)) == whole


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_two_ranks_have_the_bits_of_one_process_even_if_interrupted(on_ranks, way, one_thread):
    """The process has two replicas or, in shards, one device. Losses must match only in shards."""
    shards = WAYS[way]
    for optimizer in RULES:
        state, again, alike = on_ranks[way, optimizer]
        assert alike, optimizer
        assert bits(state) == bits(again), optimizer
        one = bits(trained({"optimizer": optimizer, **shards}, 1 if shards else 2))
        assert bits(state)[0] == one[0], optimizer
        assert not shards or bits(state) == one, optimizer
