"""Arms on a clock of our own, the order of their turns, the control, and sizes that last."""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, pairwise, repeat

import pytest
import torch

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.disturbances import NOT_MEASURABLE
from lab.results.measurements import Measurement, again
from lab.results.stats import speedup
from lab.timing import bench
from lab.timing.bench import (
    LASTING,
    OUTLASTS,
    OVER_LAUNCH,
    in_unit,
    lasting_size,
    lasting_sizes,
    launch_bound,
    measure_over_launch,
    over_launch,
    products,
    time_arms,
    turns,
    williams,
)

CPU = [torch.device("cpu")]
DEVICES = Devices("cpu-virtual", CPU, threads=1)
GPU = Devices("cuda", [torch.device("cuda", 0)], threads=1)
ONE_CALL = BenchParams(starts=1, rounds=8, min_sample_ms=1e-6)


@pytest.mark.parametrize("count", range(1, 10))
def test_each_arm_stands_in_each_place_and_behind_each_other_equally_often(count):
    orders = williams(count)
    assert all(sorted(order) == list(range(count)) for order in orders)
    places = Counter((place, arm) for order in orders for place, arm in enumerate(order))
    assert set(places.values()) == {len(orders) // count}
    assert len(places) == count * count
    neighbours = Counter(chain.from_iterable(pairwise(order) for order in orders))
    assert len(neighbours) == count * (count - 1)
    assert len(set(neighbours.values())) <= 1


def test_later_starts_go_on_with_the_orders_where_earlier_ones_left_off():
    in_one = list(turns("ABC", 6))
    assert in_one == [*turns("ABC", 2), *turns("ABC", 2, 2), *turns("ABC", 2, 4)]
    assert Counter(in_one) == {"A": 6, "B": 6, "C": 6}


def test_arms_take_turns_and_the_control_is_one_of_them():
    order = []
    arms = {name: lambda name=name: order.append(name) for name in "AB"}
    times = time_arms(arms, CPU, ONE_CALL, start=1, control="A")
    expected = ["A" if name == again("A") else name for name in turns(["A", "B", again("A")], 8, 8)]
    assert order[-24:] == expected
    assert {name: len(samples) for name, samples in times.items()} == {
        "A": 8,
        "B": 8,
        again("A"): 8,
    }
    assert all(t > 0 for samples in times.values() for t in samples)


def test_every_arm_is_warm_before_the_first_reading():
    order = []
    time_arms({name: lambda name=name: order.append(name) for name in "AB"}, CPU, ONE_CALL)
    before = order[: len(order) - 16]
    assert before.count("A") >= 2
    assert before.count("B") >= 2


def test_short_arms_repeat_until_a_sample_is_long_enough_and_samples_are_per_call(monkeypatch):
    now, readings = 0.0, []

    def arm(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(bench, "read_clock", lambda devices: readings.append(now) or now)
    params = BenchParams(starts=1, rounds=8, min_sample_ms=1000)
    arms = {"long": lambda: arm(0.25), "short": lambda: arm(2**-10)}
    assert time_arms(arms, CPU, params) == {"long": (0.25,) * 8, "short": (2**-10,) * 8}
    starts, ends = readings[-32::2], readings[-31::2]
    samples = [end - start for start, end in zip(starts, ends, strict=True)]
    assert min(samples) >= 1, "a second"
    assert max(samples) < 2.5, "and not much more"


def test_a_coarse_clock_gives_no_sample_of_zero(monkeypatch):
    """One that moves 64 times a second, as some systems' do: 1e-6 s are 0 to it, or 1/64 s."""
    now = 0.0

    def arm() -> None:
        nonlocal now
        now += 1e-6
        assert now < 10, "over five times what all samples and finding out take"

    monkeypatch.setattr(bench, "read_clock", lambda devices: int(64 * now) / 64)
    params = BenchParams(starts=1, rounds=4, min_sample_ms=250)
    [samples] = time_arms({"arm": arm}, CPU, params).values()
    assert samples == pytest.approx([1e-6] * 4, rel=2 / 16), "16 ticks, give or take one at an end"


def arm_on_a_clock(
    monkeypatch: pytest.MonkeyPatch, seconds: Iterator[float]
) -> tuple[Callable[[], None], list[int]]:
    """An arm whose calls take so long, on a clock that only they move; the calls of each sample."""
    now, calls, samples = 0.0, 0, [0]

    def arm() -> None:
        nonlocal now, calls
        now += next(seconds)
        calls += 1

    def read_clock(_: object) -> float:
        samples.append(calls)
        return now

    monkeypatch.setattr(bench, "read_clock", read_clock)
    return arm, samples


@pytest.mark.parametrize("slow", [[10.0, 0.05], [0.05, 0.05], [1e-5, 0.05]])
def test_what_first_calls_take_longer_sets_no_samples_length(monkeypatch, slow):
    """A first call compiles, a second one records a graph; all others take 10 us."""
    arm, readings = arm_on_a_clock(monkeypatch, chain(slow, repeat(1e-5)))
    params = BenchParams(starts=1, rounds=4, min_sample_ms=20)
    assert time_arms({"arm": arm}, CPU, params)["arm"] == pytest.approx([1e-5] * 4)
    starts, ends = readings[-8::2], readings[-7::2]
    for start, end in zip(starts, ends, strict=True):
        assert 2000 <= end - start < 5000, "calls that take 20 ms"


def test_an_arm_that_is_never_as_slow_twice_running_is_timed_all_the_same(monkeypatch):
    arm, readings = arm_on_a_clock(monkeypatch, chain.from_iterable(repeat((0.03, 0.1))))
    params = BenchParams(starts=1, rounds=2, min_sample_ms=20)
    assert sorted(time_arms({"arm": arm}, CPU, params)["arm"]) == pytest.approx([0.03, 0.1])
    assert readings[-1] <= 10, "calls in all"


def test_a_machine_that_slows_down_favours_no_arm(monkeypatch):
    """By a tenth from the first round to the last, as if it grew hot: the turns even it out."""
    now = calls = 0.0

    def arm() -> None:
        nonlocal now, calls
        calls += 1
        now += 0.01 * (1 + 0.1 * calls / 88)

    monkeypatch.setattr(bench, "read_clock", lambda devices: now)
    params = BenchParams(starts=1, rounds=40, min_sample_ms=1e-6)
    times = time_arms({"one": arm, "other": arm}, CPU, params)
    assert max(times["one"]) > 1.08 * min(times["one"]), "it did slow down"
    found = speedup(times["one"], times["other"])
    assert found.verdict == "inconclusive"
    assert found.median == pytest.approx(1, abs=0.002)


def test_a_clock_that_people_set_changes_no_sample(monkeypatch):
    """It goes back an hour with each look at it."""
    hours = iter(range(0, -(10**9), -3600))
    monkeypatch.setattr(time, "time", lambda: float(next(hours)))
    samples = time_arms({"arm": lambda: None}, CPU, ONE_CALL)["arm"]
    assert all(0 < t < 1 for t in samples)


def test_the_clock_is_read_for_all_devices(monkeypatch):
    waited = []
    monkeypatch.setattr(
        bench, "read_clock", lambda devices: waited.append(devices) or time.perf_counter()
    )
    devices = [torch.device("cuda", 0), torch.device("cuda", 1)]
    time_arms({"arm": lambda: None}, devices, ONE_CALL)
    assert all(each == devices for each in waited)
    assert len(waited) >= 2 * 8


def test_garbage_collection_is_on_again_after_a_failure():
    def arm() -> None:
        if not gc.isenabled():
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        time_arms({"arm": arm}, CPU, ONE_CALL)
    assert gc.isenabled()


def test_units():
    [m] = in_unit("demo", 4, {"arm": (0.002, 0.003)}, "us", DEVICES)
    assert m == Measurement("demo", "arm", 4, (2000.0, 3000.0), "us", "cpu-virtual", 1)


# --- sizes that last ---


@pytest.fixture
def gpu(monkeypatch) -> Callable[[int], Callable[[], None]]:
    """Work of a GPU: a call takes 5 us to be launched, and of n rows n ** 3 / 1e12 s to be done."""
    launched = done = 0.0

    def work(rows: int) -> Callable[[], None]:
        def arm() -> None:
            nonlocal launched, done
            launched += 5e-6
            done = max(done, launched) + rows**3 / 1e12

        return arm

    def read_clock(devices: object) -> float:
        nonlocal launched
        launched = max(launched, done)
        return launched

    monkeypatch.setattr(bench, "read_clock", read_clock)
    return work


LONG = BenchParams(starts=1, rounds=2, min_sample_ms=20)


def test_work_is_held_against_its_launch(gpu):
    assert over_launch(gpu, 32, GPU, LONG) == pytest.approx((1, 1), rel=1e-2), "3e-8 s of work"
    assert over_launch(gpu, 1000, GPU, LONG) == pytest.approx((200, 200), rel=1e-2)


def test_a_gpus_size_grows_until_its_work_lasts_and_no_further(gpu):
    found = lasting_size(gpu, 64, GPU, LONG)
    assert found == 1024
    assert 1024**3 / 1e12 > LASTING * 5e-6 > 512**3 / 1e12
    assert lasting_size(gpu, 4000, GPU, LONG) == 4000, "long enough as it is"
    assert lasting_sizes(gpu, [64, 320], GPU, LONG) == [64, 640]


def test_a_processors_sizes_are_those_of_params():
    def work(rows: int) -> Callable[[], object]:
        raise AssertionError("nothing is tried")

    assert lasting_size(work, 64, DEVICES, LONG) == 64
    assert lasting_sizes(work, [64, 320, 8], DEVICES, LONG) == [64, 320, 8]
    assert measure_over_launch("arm", work, 64, DEVICES, LONG) == []


def test_times_decide_nothing_where_any_work_was_launch_bound(gpu):
    short = measure_over_launch("short", gpu, 320, GPU, LONG)
    [long] = measure_over_launch("long", gpu, 640, GPU, LONG)
    [m] = short
    assert (m.demo, m.arm, m.x) == (OVER_LAUNCH, "short", 320)
    assert m.summary.median < OUTLASTS < long.summary.median
    assert launch_bound([long]) == launch_bound([]) == {}
    assert set(launch_bound([long, *short])) == {NOT_MEASURABLE}


def test_a_product_is_of_a_matrix_with_itself():
    product = products(torch.device("cpu"))(3)
    assert product().shape == (3, 3)
    assert not torch.equal(product(), products(torch.device("cpu"))(3)()), "of random numbers"
