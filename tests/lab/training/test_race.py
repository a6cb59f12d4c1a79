import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict, replace

import psutil
import pytest

from lab.core.errors import LabError
from lab.parallel import rank
from lab.training import race as race_module
from lab.training.arm_process import TrainingArm
from lab.training.race import race
from tests.helpers import ROOT, write_data

PRODUCT = TrainingArm("product", "", batch_size=64, steps=2, device="cpu", threads=1)
DDP = TrainingArm("ddp", "lenet", batch_size=8, steps=2, device="cpu", threads=1, num_devices=2)


@pytest.fixture
def ready(project, monkeypatch):
    write_data(project / "data", train=300, test=10)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    yield
    assert not psutil.Process().children(recursive=True), "no arm's process outlives its race"


def test_arms_take_turns_in_processes_of_their_own(ready):
    times = race({"product": PRODUCT, "ddp": DDP}, rounds=2)
    assert list(times) == ["product", "ddp"]
    for samples in times.values():
        assert len(samples) == 2
        assert all(0 < seconds < 60 for seconds in samples)


def test_each_start_has_its_share_of_the_rounds_and_a_turn_before_them(monkeypatch):
    """In the order A B B A; a turn that does not count takes 0 seconds here."""
    events = []

    @contextmanager
    def process(name, arm, inputs):
        turns = iter(range(99))

        def turn():
            events.append(name)
            return float(next(turns))

        events.append(f"start {name}")
        inputs.callback(events.append, f"close {name}")
        yield turn
        events.append(f"end {name}")

    monkeypatch.setattr(race_module, "_process", process)
    times = race({"A": PRODUCT, "B": DDP}, rounds=3, starts=2)
    around = "start A, start B, A, B, {}, close B, close A, end B, end A"
    assert ", ".join(events) == f"{around.format('A, B, B, A')}, {around.format('A, B')}"
    assert times == {"A": (1, 2, 1), "B": (1, 2, 1)}


def test_an_arm_whose_process_ends_ends_the_race(ready, monkeypatch):
    """The first ends at once, the second in its first turn that counts."""
    answer_once = "print(input() and 1.0, flush=True)"
    for program in ("raise SystemExit(1)", answer_once):
        monkeypatch.setattr(rank, "command", lambda *_, program=program: ["-c", program])
        with pytest.raises(LabError, match=r"arm 'broken': its process ended before the race did"):
            race({"broken": PRODUCT}, 2)


RACE = """
import json, sys
from lab.core.exit_codes import run
from lab.training.race import TrainingArm, race
sys.exit(run(lambda: race({"arm": TrainingArm(**json.loads(sys.argv[1]))}, 1_000_000)))
"""


def start_race(arm: TrainingArm) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", RACE, json.dumps(asdict(arm))]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def descendants(process: subprocess.Popen[bytes], count: int) -> list[psutil.Process]:
    """The processes under one, when there are `count` of them."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        found = psutil.Process(process.pid).children(recursive=True)
        if len(found) == count:
            return found
        time.sleep(0.02)
    pytest.fail(f"no {count} processes")


def test_a_race_that_is_killed_leaves_no_process(ready):
    """Neither those that an arm started nor an arm in a turn that would never end."""
    endless = replace(PRODUCT, steps=10**12)
    racing = {signal.SIGKILL: (DDP, 3), signal.SIGTERM: (endless, 1)}
    races = {number: start_race(arm) for number, (arm, _) in racing.items()}
    for number, (_, count) in racing.items():
        arms = descendants(races[number], count)
        races[number].send_signal(number)
        races[number].wait(10)
        _, alive = psutil.wait_procs(arms, timeout=10)
        for left in alive:
            left.kill()
        assert not alive, number
