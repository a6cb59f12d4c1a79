import logging
import os

import psutil
import pytest
import torch

from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.allreduce_times import Job, time_jobs
from tests.helpers import ROOT

THREE = Devices("cpu-virtual", [torch.device("cpu")] * 3, 1)


def test_jobs_of_several_world_sizes_are_timed_and_checked_in_their_order(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    before = dict(os.environ)
    jobs = [
        Job("ring", 3, (600,)),
        Job("star", 2, (100, 0, 50)),
        Job("star", 2, (100, 0, 50), one_bucket=True),
        Job("there and back", 2, (5,)),
        Job("library", 3, (1, 2)),
    ]
    found = time_jobs(jobs, rounds=3, min_sample_ms=0.1, devices=THREE)
    assert [(one.messages_sent, one.bytes_sent) for one in found] == [
        (4, 3200),
        (2, 600),
        (1, 600),
        (1, 20),
        (0, 0),
    ]
    assert all(one.exact for one in found)
    for one in found:
        assert len(one.seconds) == 3
        assert all(0 < seconds < 60 for seconds in one.seconds)
    assert dict(os.environ) == before, "launching leaves no variables behind"
    assert logging.getLogger().isEnabledFor(logging.ERROR)
    assert not psutil.Process().children(recursive=True), "no rank outlives its jobs"


def test_a_step_leaves_the_same_weights_in_all_ranks_and_computing_alone_sends_nothing(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    lengths = tuple(p.numel() for p in MODELS["lenet"](torch.Generator()).parameters())
    steps = [
        Job(name, 2, lengths, one_bucket, "lenet", images=3)
        for name, one_bucket in (("star", False), ("ring", True), ("nothing", False))
    ]
    found = time_jobs(steps, rounds=2, min_sample_ms=0.1, devices=THREE)
    assert all(one.exact for one in found)
    assert [one.messages_sent for one in found] == [8, 2, 0]
    assert [one.bytes_sent for one in found] == [4 * sum(lengths)] * 2 + [0]


def test_more_ranks_than_devices_are_refused():
    with pytest.raises(ValueError, match="at most 3 ranks"):
        time_jobs([Job("ring", 4, (1,))], rounds=1, min_sample_ms=1, devices=THREE)
