"""The notes' training loop, timed over a part of an epoch."""

import pytest
import torch

from lab.training import notes_loop
from lab.training.notes_loop import EpochClock

CPU = torch.device("cpu")


def test_the_one_time_cost_of_an_epoch_counts_in_proportion(monkeypatch):
    """The loader takes 10 s to start and has two batches per worker ready."""
    now = [0.0]
    monkeypatch.setattr(notes_loop, "read_clock", lambda devices: now[0])

    def seconds_per_step(steps: int, num_workers: int) -> float:
        clock = EpochClock.of([CPU], 8 * 20, 8, steps, num_workers)
        now[0] += 10
        for done in range(1, clock.steps + 1):
            now[0] += 0.5 if done <= 2 * num_workers else 1
            clock.step_done(done)
        return clock.seconds_per_step()

    whole = (10 + 4 * 0.5 + 16) / 20
    assert seconds_per_step(20, num_workers=2) == pytest.approx(whole)
    assert seconds_per_step(8, num_workers=2) == pytest.approx(whole), "a part of the epoch"
    assert seconds_per_step(99, num_workers=2) == pytest.approx(whole), "no more than an epoch"
    assert seconds_per_step(8, num_workers=0) == pytest.approx((10 + 20) / 20)
    assert seconds_per_step(1, num_workers=2) == pytest.approx(10.5), "too short to tell"
