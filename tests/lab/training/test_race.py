from dataclasses import replace

import psutil
import pytest

from lab.core.errors import LabError
from lab.training.race import Way, race
from tests.helpers import ROOT, write_data

ENGINE = Way("engine", "lenet", batch_size=8, steps=2, device="cpu", threads=1)


@pytest.fixture
def ready(project, monkeypatch):
    write_data(project / "data", train=300, test=10)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    yield
    assert not psutil.Process().children(recursive=True), "no contestant outlives its race"


def test_ways_take_turns_in_processes_of_their_own(ready):
    ways = {
        "engine": ENGINE,
        "bf16 on two": replace(ENGINE, precision="bf16", num_devices=2),
        "notes": replace(ENGINE, kind="book"),
        "ddp": replace(ENGINE, kind="ddp", num_devices=2),
        "product": replace(ENGINE, kind="gemm", batch_size=64),
    }
    times = race(ways, rounds=4, heats=2)
    assert list(times) == list(ways)
    for samples in times.values():
        assert len(samples) == 4
        assert all(0 < seconds < 60 for seconds in samples)


def test_a_contestant_that_ends_ends_the_race(ready):
    with pytest.raises(LabError, match="contestant 'broken' ended"):
        race(
            {
                "product": replace(ENGINE, kind="gemm", batch_size=64),
                "broken": replace(ENGINE, net="nonsense"),
            },
            2,
        )
