"""Arms on a clock of our own, the order of their turns, and the control among them."""

import gc
import time
from collections import Counter
from itertools import chain, pairwise

import pytest
import torch

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, again
from lab.results.stats import speedup
from lab.timing import bench
from lab.timing.bench import in_unit, time_arms, turns, williams

CPU = [torch.device("cpu")]
DEVICES = Devices("cpu-virtual", CPU, threads=1)
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


@pytest.mark.faults("B8")
def test_every_arm_is_warm_before_the_first_reading():
    order = []
    time_arms({name: lambda name=name: order.append(name) for name in "AB"}, CPU, ONE_CALL)
    before = order[: len(order) - 16]
    assert before.count("A") >= 2
    assert before.count("B") >= 2


@pytest.mark.faults("B6")
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


@pytest.mark.faults("B6")
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


@pytest.mark.faults("B8")
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


@pytest.mark.faults("T22")
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
    calls = 0

    def arm() -> None:
        nonlocal calls
        calls += 1
        if calls > 6:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        time_arms({"arm": arm}, CPU, ONE_CALL)
    assert gc.isenabled()


def test_units():
    [m] = in_unit("demo", 4, {"arm": (0.002, 0.003)}, "us", DEVICES)
    assert m == Measurement("demo", "arm", 4, (2000.0, 3000.0), "us", "cpu-virtual", 1)
