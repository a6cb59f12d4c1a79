"""What `parallelism` measures and derives: exchanges, crossings, schedules; one small real run."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.claims.rules import Verdict
from lab.core.errors import ParamsError
from lab.core.files import read_json, read_rows
from lab.core.params import load
from lab.core.shared_params import BenchParams, DeviceParams
from lab.data import synthetic
from lab.data.datasets import Split
from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.replicas import allreduce, rebinding_allreduce
from lab.parallel.workers import thread_pool
from lab.results.curves import line
from stages.parallelism import __main__ as parallelism
from stages.parallelism.measure.data_parallel import DataParallel
from stages.parallelism.measure.exchange import Exchange, exchange, sharded_allreduce
from stages.parallelism.measure.layers import lenet_layers
from stages.parallelism.measure.names import (
    DATA,
    FLOP_PER_BYTE,
    INCEPTION_OVER_RESNET,
    LARGEST_DIFFERENCE_EPS,
    LENET,
    MOVED_MB,
    RESNET_50,
    RESNET_OVER_ALEXNET,
    on_devices,
)
from stages.parallelism.measure.params import ParallelismParams
from stages.parallelism.measure.pipeline import in_parts
from stages.parallelism.measure.pipeline_schedule import idle_share, schedule
from stages.parallelism.measure.step import train
from stages.parallelism.measure.tensor_parallel import TensorParallel
from stages.parallelism.measure.wires import Crossings, Wires
from stages.parallelism.page.claims import CLAIMS
from tests.helpers import ROOT, committed_params, edit_params, verdicts
from tests.lab.parallel.placed import HOST, OnGpus, crossed

CPU = torch.device("cpu")
PARALLELISM = ParallelismParams(
    num_devices=[2], batch_sizes=[4, 8], num_micro_batches=4, wide_units=8
)


def test_crossing_of_a_line_that_does_not_start_at_zero():
    growing, level = line("", "", [2, 4], [5, 9]), line("", "", [2, 4], [21, 21])
    assert parallelism.crossing_batch(growing, level) == 10


def test_a_small_real_run_repeats(one_thread):
    images, labels = synthetic.fashion(8, 0)
    split, devices = Split(images, labels.astype("int64")), Devices("cpu-virtual", [CPU] * 2, 1)
    params = parallelism.Params(
        seed=0,
        devices=DeviceParams(cpu_threads=1),
        bench=BenchParams(starts=1, rounds=1, min_sample_ms=1),
        parallelism=PARALLELISM,
    )
    first = parallelism.measure(params, devices, split)
    again = list(parallelism.measure_kinds(PARALLELISM, devices, split, 0))
    for c, d in zip(first, again, strict=False):  # the ratio is not counted again
        assert (c.experiment, c.series) == (d.experiment, d.series)
        assert np.array_equal(c.x, d.x), c.series
        assert np.array_equal(c.y, d.y), c.series
    y = {(c.experiment, c.series): c.y for c in first}
    assert y[MOVED_MB, on_devices(DATA, 2)][-1] == 2 * 4 * 129_068 / 1e6
    assert y[FLOP_PER_BYTE, LENET][0] == pytest.approx(13.26e6 / 516_272, rel=1e-3)
    assert y[FLOP_PER_BYTE, RESNET_50][0] == pytest.approx(3 * 8.18e9 / (4 * 25.557e6), rel=0.02)
    m = parallelism.summarise(first, PARALLELISM)
    assert m[LARGEST_DIFFERENCE_EPS] < 1e4
    assert min(m[INCEPTION_OVER_RESNET], m[RESNET_OVER_ALEXNET]) > 1


def test_params_that_cannot_be_measured_are_refused(project):
    bad = [
        ("batch_sizes", [16, 16], "two growing batch_sizes, got [16, 16]"),
        ("batch_sizes", [256, 16], "two growing batch_sizes, got [256, 16]"),
        ("num_devices", [2, 5], "num_devices.1: expected less than or equal to 4, got 5"),
    ]
    for key, value, complaint in bad:
        (project / "params.yaml").write_text(committed_params())
        edit_params({f"parallelism.{key}": value})
        with pytest.raises(ParamsError, match=re.escape(complaint)):
            load(parallelism.Params)


def test_two_streams_of_one_gpu_are_not_two_devices():
    folder = ROOT / "reports" / "parallelism"
    of_streams = {**read_json(folder / "metrics.json"), "device_kind": "cuda-shared"}
    found = verdicts(CLAIMS, "parallelism", of_streams, read_rows(folder / "rows.csv"))
    assert found["G7a"] is Verdict.NOT_TESTABLE
    assert found["G7b"] is Verdict.CONFIRMED, "bytes are counted"


COUNTS = (2, 3, 4)


@pytest.mark.parametrize("count", COUNTS)
def test_in_the_notes_all_reduce_one_device_sends_to_all_others(count):
    assert exchange(allreduce, count, 0) == Exchange(count - 1, 1)


@pytest.mark.parametrize("count", COUNTS)
def test_devices_that_share_the_work_send_no_more_than_twice_the_gradient(count):
    found = exchange(sharded_allreduce, count, 0)
    assert found.most_sent == pytest.approx(2 * (count - 1) / count, rel=1e-3)


def test_an_all_reduce_that_leaves_devices_without_the_sum_is_refused():
    with pytest.raises(ValueError, match="the sum on every device"):
        exchange(rebinding_allreduce, 2, 0)


@given(st.integers(1, 5), st.integers(0, 9))
def test_the_sharded_sum_is_the_sum_of_any_length(count, length):
    data = [torch.arange(float(length)) * (i + 1) for i in range(count)]
    sharded_allreduce(data)
    for X in data:
        assert torch.equal(X, torch.arange(float(length)) * (count * (count + 1) / 2))


def test_crossings_count_what_goes_from_device_to_device():
    a, b = torch.ones(3), torch.ones(3)
    with Crossings([a, b]) as found:
        a.add_(b)
        a.add_(a)
        b[:2].copy_(a[:2])
    assert (found.sent, found.received) == ([8, 12], [12, 8])


@given(st.integers(1, 6), st.integers(1, 12))
def test_the_bubble_of_equal_parts(num_devices, num_micro_batches):
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


KINDS = {"data": DataParallel, "tensor": TensorParallel, "pipeline": in_parts(3)}


def gradients_of_two_steps(kind, devices):
    """The gradients before and after an update."""
    net = lenet_layers(MODELS["lenet_he"](torch.Generator().manual_seed(0)))
    generator = torch.Generator().manual_seed(1)
    X = torch.rand(13, 1, 28, 28, generator=generator)
    y = torch.randint(0, 10, (13,), generator=generator)
    with thread_pool(len(devices), 1) as pool:
        placed = kind(net, devices, pool)
        train(placed, X, y, 0.1, pool)
        placed.take_gradient(X, y, Wires())
        return placed.gradients()


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_devices_meet_in_copies_and_find_the_gradient_of_virtual_ones(kind, count, one_thread):
    crossed.clear()
    with OnGpus():
        found = gradients_of_two_steps(kind, [torch.device("cuda", i) for i in range(count)])
    assert crossed
    expected = gradients_of_two_steps(kind, [HOST] * count)
    assert all(torch.equal(g.content, h) for g, h in zip(found, expected, strict=True))
