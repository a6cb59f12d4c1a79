"""Measurements and findings of `parallelism`: traffic, schedules, and one small real run."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.core.shared_params import BenchParams, DeviceParams
from lab.data import synthetic
from lab.data.datasets import Split
from lab.machine.devices import Devices
from lab.parallel.replicas import allreduce
from lab.results.measurements import Results
from stages.parallelism import __main__ as parallelism
from stages.parallelism.findings import findings
from stages.parallelism.measure.costs import (
    TrafficCounter,
    measure_lenet,
    sharded_allreduce,
    traffic_of,
)
from stages.parallelism.measure.names import (
    DATA,
    INCEPTION_OVER_RESNET,
    LENET,
    RESNET_50,
    RESNET_OVER_ALEXNET,
)
from stages.parallelism.measure.params import ParallelismParams
from stages.parallelism.measure.schedule import idle_share, schedule

CPU = torch.device("cpu")
PARALLELISM = ParallelismParams(
    num_devices=[2], batch_sizes=[4, 8], num_micro_batches=4, wide_units=8
)


def test_a_small_real_run_is_repeatable(one_thread):
    images, labels = synthetic.fashion(8, 0)
    split, devices = Split(images, labels.astype("int64")), Devices("cpu-virtual", [CPU] * 2, 1)
    params = parallelism.Params(
        seed=0,
        devices=DeviceParams(cpu_threads=1),
        bench=BenchParams(starts=1, rounds=1, min_sample_ms=1),
        parallelism=PARALLELISM,
    )
    first = list(parallelism.count(params, devices, split))
    again = list(measure_lenet(PARALLELISM, devices, split, 0))
    assert first[: len(again)] == again
    results = Results(first)

    def value(*asked, **columns):
        return results.series(*asked, **columns)[-1].values[0]

    assert value("sent", DATA, net=LENET, devices=2) == 2 * 4 * 129_068 / 1e6
    assert value("FLOP per byte", LENET) == pytest.approx(13.26e6 / 516_272, rel=1e-3)
    resnet = 3 * 8.18e9 / (4 * 25.557e6)
    assert value("FLOP per byte", RESNET_50) == pytest.approx(resnet, rel=0.02)
    found = findings(results)
    assert found["largest_difference"].value < 1e4
    assert min(found[name].value for name in (INCEPTION_OVER_RESNET, RESNET_OVER_ALEXNET)) > 1


COUNTS = (2, 3, 4)


@pytest.mark.parametrize("count", COUNTS)
def test_in_the_notes_all_reduce_one_device_sends_to_all_others(count):
    once = [1] * (count - 1)
    assert traffic_of(allreduce, count, 0) == ([count - 1, *once], [count - 1, *once])


@pytest.mark.parametrize("count", COUNTS)
def test_devices_that_share_the_work_send_no_more_than_twice_the_gradient(count):
    sent, _ = traffic_of(sharded_allreduce, count, 0)
    assert max(sent) == pytest.approx(2 * (count - 1) / count, rel=1e-3)


@given(st.integers(1, 5), st.integers(0, 9))
def test_the_sharded_sum_is_right_for_any_length(count, length):
    data = [torch.arange(float(length)) * (i + 1) for i in range(count)]
    sharded_allreduce(data)
    for X in data:
        assert torch.equal(X, torch.arange(float(length)) * (count * (count + 1) / 2))


def test_traffic_counts_only_bytes_between_devices():
    a, b = torch.ones(3), torch.ones(3)
    with TrafficCounter([a, b]) as found:
        a.add_(b)
        a.add_(a)
        b[:2].copy_(a[:2])
    assert (found.sent, found.received) == ([8, 12], [12, 8])


@given(st.integers(1, 6), st.integers(1, 12))
def test_the_bubble_of_equal_parts_has_its_closed_form(num_devices, num_micro_batches):
    slots = schedule([1.0] * num_devices, num_micro_batches)
    assert idle_share(slots) == pytest.approx(
        (num_devices - 1) / (num_micro_batches + num_devices - 1)
    )


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=5), st.integers(1, 8))
def test_a_schedule_is_in_order_and_keeps_the_slowest_device_busy(durations, num_micro_batches):
    slots = schedule(durations, num_micro_batches)
    assert len(slots) == len(durations) * num_micro_batches
    by_place = {(s.device, s.micro_batch): s for s in slots}
    for slot in slots:
        for before in ((slot.device - 1, slot.micro_batch), (slot.device, slot.micro_batch - 1)):
            assert before not in by_place or by_place[before].end <= slot.start + 1e-9
    end = max(s.end for s in slots)
    assert end == pytest.approx(sum(durations) + (num_micro_batches - 1) * max(durations))
