"""A benchmark measured in fresh processes: one value per process, until a deadline."""

import os
import time

import pytest
import torch

from lab.core.errors import LabError
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.results.reasons import NEEDS_GPU, Reason
from lab.timing import clock, conditions
from lab.timing.deadline import DEADLINE_VARIABLE, LATEST_VARIABLE, until_deadline
from lab.timing.runner import Benchmark, measure_in_processes, merge
from tests.lab.timing import started

NEVER = -1
SKIPPED = skip("demo", "GPU", Reason(NEEDS_GPU), "cpu-virtual")


def test_each_sample_is_the_median_of_a_fresh_process():
    variant, process, gpu = measure_in_processes("started", 2, started.measure, NEVER, NEVER)
    assert (variant.values, variant.remark) == ((2.0, 3.0), "")
    assert len({*process.values, float(os.getpid())}) == 3
    assert gpu == SKIPPED


@pytest.mark.parametrize("disturbed", [0, 1])
def test_a_disturbed_process_is_noted_in_the_remark(disturbed):
    variant, _, gpu = measure_in_processes("started", 2, started.measure, NEVER, disturbed)
    assert variant.values == (2.0, 3.0)
    assert variant.remark.startswith("disturbed: throttled: ")
    assert gpu == SKIPPED


def test_a_process_that_fails_ends_the_measurement():
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


def test_processes_are_merged_in_order():
    one, two = [timed("A", 1, 2, 9), timed("B", 5)], [timed("B", 6), timed("A", 4)]
    assert merge([one, two]) == [timed("A", 2, 4), timed("B", 5, 6)]


def test_a_variant_that_one_process_skipped_is_skipped():
    gone = skip("demo", "A", "does not build here", "cpu-virtual")
    assert merge([[timed("A", 1)], [gone]]) == [gone]
    assert merge([[gone], [gone]]) == [gone]


def test_processes_that_measured_different_things_are_refused():
    with pytest.raises(LabError, match="different things"):
        merge([[timed("A", 1)], [timed("B", 1)]])


def test_every_gpu_is_synchronized_before_the_clock_is_read(monkeypatch):
    order = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda gpu: order.append(str(gpu)))
    monkeypatch.setattr(clock.time, "perf_counter", lambda: order.append("read") or 1.0)
    gpus = [torch.device("cuda", index) for index in (0, 1, 0)]
    clock.read_clock([*gpus, torch.device("cpu")])
    *waited, last = order
    assert sorted(waited) == ["cuda:0", "cuda:1"]
    assert last == "read"


@pytest.mark.parametrize(
    ("deadline", "latest", "seconds", "made"),
    [
        ("inf", "inf", [10] * 6, 6),
        ("55", "100", [10] * 6, 5),  # the sixth would end at 60
        ("60", "100", [10] * 6, 6),
        ("5", "100", [10] * 6, 4),  # the fewest that decide something
        ("5", "35", [10] * 6, 3),
        ("5", "34", [20, 5, 5], 1),  # the next is expected to take as long as the one before
        ("5", "44", [20, 5, 5], 3),
        ("-1", "-1", [10] * 6, 1),
    ],
)
def test_processes_are_started_until_the_deadline_and_at_least_one(
    monkeypatch, deadline, latest, seconds, made
):
    """The clock advances by the time that each process takes."""
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setenv(DEADLINE_VARIABLE, deadline)
    monkeypatch.setenv(LATEST_VARIABLE, latest)
    numbers = []
    for start in until_deadline(len(seconds)):
        numbers.append(start)
        now += seconds[start]
    assert numbers == list(range(made))
