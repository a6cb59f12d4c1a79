"""Timing variants on a fake clock: order of turns, noise control, sizes past the launch."""

import gc
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain, pairwise, repeat
from unittest.mock import Mock

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.disturbances import NOT_MEASURABLE
from lab.results.measurements import again
from lab.timing import bench
from lab.timing.bench import (
    LAUNCHES_WANTED,
    MIN_LAUNCHES,
    OVER_LAUNCH,
    balanced_orders,
    balanced_turns,
    convolution,
    in_unit,
    launch_bound,
    measure_over_launch,
    over_launch,
    size_past_launch_bound,
    sizes_past_launch_bound,
    time_variants,
)

CPU = [torch.device("cpu")]
DEVICES = Devices("cpu-virtual", CPU, threads=1)
GPU = Devices("cuda", [torch.device("cuda", 0)], threads=1)
ONE_CALL = BenchParams(starts=1, rounds=8, min_sample_ms=1e-6)


class Clock:
    """A clock that only variants advance, with the number of calls at each reading."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls = 0
        self.calls_at: list[int] = []
        self.devices: list[object] = []

    def variant(self, seconds: Iterable[float]) -> Callable[[], None]:
        """Return a variant whose calls take these times."""
        each = iter(seconds)

        def call() -> None:
            self.now += next(each)
            self.calls += 1

        return call

    def read(self, devices: object) -> float:
        assert len(self.calls_at) < 200, "finding a sample's length has no end"
        self.calls_at.append(self.calls)
        self.devices.append(devices)
        return self.now

    def calls_of_samples(self, count: int) -> list[int]:
        """Return the number of calls in each of the last `count` samples."""
        starts, ends = self.calls_at[-2 * count :: 2], self.calls_at[-2 * count + 1 :: 2]
        return [end - start for start, end in zip(starts, ends, strict=True)]


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(bench, "read_clock", clock.read)
    return clock


@pytest.mark.parametrize("count", range(1, 10))
def test_orders_balance_places_and_neighbours(count):
    orders = balanced_orders(count)
    assert all(sorted(order) == list(range(count)) for order in orders)
    places = Counter((place, variant) for order in orders for place, variant in enumerate(order))
    assert set(places.values()) == {len(orders) // count}
    assert len(places) == count * count
    neighbours = Counter(chain.from_iterable(pairwise(order) for order in orders))
    assert len(neighbours) == count * (count - 1)
    assert len(set(neighbours.values())) <= 1


def test_variants_take_turns_with_the_control_once_they_are_warm(clock):
    order = []
    second = clock.variant(repeat(1.0))
    variants = {name: lambda name=name: (order.append(name), second()) for name in "AB"}
    times = time_variants(variants, CPU, ONE_CALL, start=1, control="A")
    expected = [
        "A" if name == again("A") else name for name in balanced_turns(["A", "B", again("A")], 8, 8)
    ]
    warming, samples = order[:-24], order[-24:]
    assert samples == expected
    assert min(warming.count("A"), warming.count("B")) >= 2
    assert times == dict.fromkeys(("A", "B", again("A")), (1.0,) * 8)


def test_short_variants_repeat_until_a_sample_is_long_enough(clock):
    params = BenchParams(starts=1, rounds=8, min_sample_ms=1000)
    variants = {"long": clock.variant(repeat(0.25)), "short": clock.variant(repeat(2**-10))}
    assert time_variants(variants, CPU, params) == {"long": (0.25,) * 8, "short": (2**-10,) * 8}
    of_variants = Counter(clock.calls_of_samples(16))
    assert set(of_variants.values()) == {8}
    long, short = sorted(of_variants)
    assert 4 <= long < 10
    assert 2**10 <= short < 2.5 * 2**10


def test_a_long_variant_is_called_once_to_warm_up_and_once_per_sample(clock):
    variants = {name: clock.variant(chain([9.0], repeat(0.25))) for name in "AB"}
    times = time_variants(variants, CPU, ONE_CALL, lasting=True)
    assert times == dict.fromkeys("AB", (0.25,) * 8)
    assert clock.calls == 2 * (1 + 8)


def test_garbage_is_not_collected_during_samples(clock):
    collecting, call = [], clock.variant(repeat(1.0))
    time_variants({"arm": lambda: (collecting.append(gc.isenabled()), call())}, CPU, ONE_CALL)
    assert collecting[-8:] == [False] * 8
    assert gc.isenabled()


@pytest.mark.parametrize(("unit", "value"), [("s", 2e-3), ("ms", 2), ("us", 2e3), ("ns", 2e6)])
def test_seconds_are_converted_to_a_unit(unit, value):
    [found] = in_unit("call", 64, {"arm": (2e-3,)}, unit, DEVICES)
    assert (found.values, found.unit) == (pytest.approx((value,)), unit)


def test_a_coarse_clock_gives_no_sample_of_zero(clock, monkeypatch):
    """Some systems' clocks tick 64 times a second: they read 1e-6 s as 0 or as 1/64 s."""
    monkeypatch.setattr(bench, "read_clock", lambda devices: int(64 * clock.read(devices)) / 64)
    params = BenchParams(starts=1, rounds=4, min_sample_ms=250)
    [samples] = time_variants({"arm": clock.variant(repeat(1e-6))}, CPU, params).values()
    assert samples == pytest.approx([1e-6] * 4, rel=2 / 16), "16 ticks, give or take one at an end"
    assert clock.now < 10, "over five times what all samples and finding out take"


@pytest.mark.parametrize("slow", [[10.0, 0.05], [0.05, 0.05], [1e-5, 0.05]])
def test_slow_first_calls_do_not_set_the_length_of_samples(clock, slow):
    """The first call compiles, the second one records a graph; all others take 10 us."""
    params = BenchParams(starts=1, rounds=4, min_sample_ms=20)
    times = time_variants({"arm": clock.variant(chain(slow, repeat(1e-5)))}, CPU, params)
    assert times["arm"] == pytest.approx([1e-5] * 4)
    assert all(2000 <= calls < 5000 for calls in clock.calls_of_samples(4)), "20 ms"


# --- sizes past the launch bound ---


@pytest.fixture
def gpu(monkeypatch) -> Callable[[int], Callable[[], None]]:
    """Return fake GPU work: a launch takes 5 us, and the work on n rows n ** 3 / 1e12 s."""
    launched = done = 0.0

    def work(rows: int) -> Callable[[], None]:
        def variant() -> None:
            nonlocal launched, done
            launched += 5e-6
            done = max(done, launched) + rows**3 / 1e12

        return variant

    def read_clock(devices: object) -> float:
        nonlocal launched
        launched = max(launched, done)
        return launched

    monkeypatch.setattr(bench, "read_clock", read_clock)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda gpu: Mock(total_memory=2**33))
    return work


LONG = BenchParams(starts=1, rounds=2, min_sample_ms=20)


def test_over_launch_is_the_time_of_work_relative_to_its_launch(gpu):
    assert over_launch(gpu, 32, GPU, LONG) == pytest.approx((1, 1), rel=1e-2), "3e-8 s of work"
    assert over_launch(gpu, 1000, GPU, LONG) == pytest.approx((200, 200), rel=1e-2)


def test_sizes_grow_until_a_gpus_work_outlasts_its_launch(gpu):
    assert size_past_launch_bound(gpu, 64, GPU, LONG) == 1024
    assert 1024**3 / 1e12 > LAUNCHES_WANTED * 5e-6 > 512**3 / 1e12
    assert size_past_launch_bound(gpu, 4000, GPU, LONG) == 4000, "long enough as it is"
    assert sizes_past_launch_bound(gpu, [64, 320], GPU, LONG) == [64, 640]


def test_sizes_on_a_cpu_are_those_of_the_params():
    def work(rows: int) -> Callable[[], object]:
        raise AssertionError("nothing is tried")

    assert sizes_past_launch_bound(work, [64, 320, 8], DEVICES, LONG) == [64, 320, 8]
    assert measure_over_launch("arm", work, 64, DEVICES, LONG) == []


def test_launch_bound_work_decides_nothing(gpu):
    [short] = measure_over_launch("short", gpu, 320, GPU, LONG)
    [long] = measure_over_launch("long", gpu, 640, GPU, LONG)
    assert (short.experiment, short.variant, short.x) == (OVER_LAUNCH, "short", 320)
    assert short.summary.median < MIN_LAUNCHES < long.summary.median
    assert launch_bound([long]) == launch_bound([]) == {}
    assert set(launch_bound([long, short])) == {NOT_MEASURABLE}


def test_flop_of_a_convolution_match_torchs_count():
    gflop, call = convolution(torch.device("cpu"), images=2)
    with FlopCounterMode(display=False) as counted:
        call()
    assert round(1e9 * gflop) == counted.get_total_flops()
