"""A benchmark measured in fresh processes: one start, one value."""

import os

import pytest
import torch

from lab.core.errors import LabError
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.timing import conditions
from lab.timing.runner import Benchmark, measure_in_processes, merge
from tests.lab.timing import started

NEVER = -1
SKIPPED = skip("demo", "GPU", Reason(NEEDS_GPU), "cpu-virtual")


def test_each_start_is_a_process_with_one_median():
    variant, process, gpu = measure_in_processes("started", 2, started.measure, NEVER, NEVER)
    assert (variant.values, variant.remark) == ((2.0, 3.0), "")
    assert len({*process.values, float(os.getpid())}) == 3
    assert gpu == SKIPPED


def test_disturbed_start_is_remarked_on():
    variant, _, gpu = measure_in_processes("started", 2, started.measure, NEVER, 0)
    assert variant.values == (2.0, 3.0)
    assert variant.remark.startswith("disturbed: throttled: ")
    assert gpu == SKIPPED


def test_start_that_fails_ends_the_measurement():
    with pytest.raises(LabError, match="process 1, ended with code 4"):
        measure_in_processes("started", 2, started.measure, 1, NEVER)


def test_the_machines_speed_is_read_before_each_process(monkeypatch):
    events = []
    monkeypatch.setattr(conditions, "product_speed", lambda: events.append("speed") or 1.0)

    def call(name, work, process):
        events.append(process)
        return work(process)

    benchmark = Benchmark("demo", Devices("cpu-virtual", [torch.device("cpu")], 1))
    events.clear()
    benchmark.repeat(3, lambda process: [timed("A", process)], call=call)
    assert events == ["speed", 0, "speed", 1, "speed", 2]


def timed(variant: str, *values: float) -> Measurement:
    return Measurement("demo", variant, 0, values, "ms", "cpu-virtual")


def test_starts_are_merged_in_their_order():
    one, two = [timed("A", 1, 2, 9), timed("B", 5)], [timed("B", 6), timed("A", 4)]
    assert merge([one, two]) == [timed("A", 2, 4), timed("B", 5, 6)]


def test_what_one_start_skipped_is_skipped():
    gone = skip("demo", "A", "does not build here", "cpu-virtual")
    assert merge([[timed("A", 1)], [gone]]) == [gone]
    assert merge([[gone], [gone]]) == [gone]


def test_starts_that_measured_different_things_are_refused():
    with pytest.raises(LabError, match="different things"):
        merge([[timed("A", 1)], [timed("B", 1)]])
