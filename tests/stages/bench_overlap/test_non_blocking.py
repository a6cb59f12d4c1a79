"""Which calls take `non_blocking`, and when the notes' call returns on a stand-in for a GPU."""

from types import SimpleNamespace

import pytest
import torch

from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_overlap.measure import names, non_blocking

GPU = Devices("cuda", [torch.device("cuda", 0)], threads=1)


class OnGpu:
    is_cuda = True

    def __len__(self) -> int:
        return 4


def test_both_calls_take_the_argument():
    assert non_blocking.calls_with_it() == 2


def test_a_call_that_does_not_take_it_is_not_counted(monkeypatch):
    def no_argument(self: torch.Tensor, *args: object) -> torch.Tensor:
        return self

    monkeypatch.setattr(torch.Tensor, "copy_", no_argument)
    assert non_blocking.calls_with_it() == 1


def test_a_call_returns_before_the_copies_are_there(monkeypatch):
    """The call takes a second, the copies end two seconds later."""
    now, done = 0.0, 0.0

    def read_clock(devices: list[torch.device]) -> float:
        nonlocal now
        now = max(now, done) if devices else now
        return now

    def fresh_copies(non_blocking: bool) -> list[torch.Tensor]:
        nonlocal now, done
        assert non_blocking
        now += 1
        done = now + 2
        return []

    monkeypatch.setattr(non_blocking, "read_clock", read_clock)
    work = SimpleNamespace(x=OnGpu(), fresh_copies=fresh_copies)
    results = Results(non_blocking.measure_return(work, GPU, rounds=3))
    assert results.one(names.CALL, names.RETURNS).values == pytest.approx((1e3,) * 3)
    assert results.one(names.CALL, names.ARRIVES).values == pytest.approx((3e3,) * 3)
