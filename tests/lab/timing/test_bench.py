"""Arms on a clock of our own, the noise control, and how busy other processes are."""

import gc
import subprocess
import sys
import time

import psutil
import pytest
import torch

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, skip
from lab.timing import bench
from lab.timing.bench import (
    A_AGAINST_A,
    Watch,
    conditions,
    control_measurements,
    in_unit,
    noise_control,
    time_arms,
)

CPU = [torch.device("cpu")]
DEVICES = Devices("cpu-virtual", CPU, threads=1)
ONE_CALL = BenchParams(rounds=8, aa_runs=3, min_sample_ms=1e-6)


def test_arms_take_turns_first_forwards_then_backwards():
    order = []
    arms = {name: lambda name=name: order.append(name) for name in "ABC"}
    times = time_arms(arms, CPU, ONE_CALL)
    assert "".join(order[-24:]) == "ABCCBA" * 4
    assert {name: len(samples) for name, samples in times.items()} == {"A": 8, "B": 8, "C": 8}
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
    params = BenchParams(rounds=8, aa_runs=1, min_sample_ms=1000)
    arms = {"long": lambda: arm(0.25), "short": lambda: arm(2**-10)}
    assert time_arms(arms, CPU, params) == {"long": (0.25,) * 8, "short": (2**-10,) * 8}
    starts, ends = readings[-32::2], readings[-31::2]
    samples = [end - start for start, end in zip(starts, ends, strict=True)]
    assert min(samples) >= 1, "a second"
    assert max(samples) < 2.5, "and not much more"


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


def test_the_noise_control_compares_an_arm_with_itself():
    controls = noise_control(lambda: sum(range(100)), DEVICES, ONE_CALL)
    assert [len(m.values) for m in controls] == [8, 8, 8]
    assert {m.demo for m in controls} == {A_AGAINST_A}


def test_a_control_is_the_ratio_of_the_samples_of_a_pair():
    found = control_measurements([([2.0, 6.0], [1.0, 3.0]), ([3.0], [4.0])], DEVICES)
    ratio = "ratio"
    assert found == [
        Measurement(A_AGAINST_A, ratio, 0, (2.0, 2.0), "x", "cpu-virtual", 1),
        Measurement(A_AGAINST_A, ratio, 1, (0.75,), "x", "cpu-virtual", 1),
    ]


def test_conditions_count_false_speedups_noise_and_what_was_skipped():
    measured = [
        Measurement(A_AGAINST_A, "ratio", 0, (1.0, 1.01) * 6, "x", "cpu-virtual"),
        Measurement(A_AGAINST_A, "ratio", 1, (1.1,) * 12, "x", "cpu-virtual"),
        Measurement("demo", "steady", 0, (1.0, 1.01, 1.02), "ms", "cpu-virtual"),
        Measurement("demo", "noisy", 0, (1.0, 2.0, 3.0), "ms", "cpu-virtual"),
        skip("demo", "GPU", "needs a CUDA GPU", "cpu-virtual"),
    ]
    found = conditions(measured, DEVICES, Watch())
    assert (found["aa_runs"], found["aa_false_speedups"]) == (2, 1)
    assert (found["noisy_percent"], found["skipped"]) == (50.0, 1)
    assert (found["device_kind"], found["num_devices"], found["threads_per_device"]) == (
        "cpu-virtual",
        1,
        1,
    )


def test_other_processes_are_seen():
    program = "print(flush=True)\nwhile True: pass"
    busy = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert busy.stdout
        busy.stdout.readline()
        watch = Watch()
        time.sleep(0.5)
        percent = watch.busy_percent()
    finally:
        busy.kill()
        busy.communicate()
    assert percent > 30 / psutil.cpu_count(), "one core's time, if the machine is quiet otherwise"


def test_units():
    [m] = in_unit("demo", 4, {"arm": (0.002, 0.003)}, "us", DEVICES)
    assert m == Measurement("demo", "arm", 4, (2000.0, 3000.0), "us", "cpu-virtual", 1)
