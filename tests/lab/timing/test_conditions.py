"""Conditions that a measurement reports, from counters and clocks that the tests set."""

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
import torch

from lab.machine.devices import Devices
from lab.results.disturbances import LIMIT_PERCENT, SPEEDS, disturbances_of
from lab.results.measurements import Measurement, again, skip
from lab.results.reasons import BUSY, DRIFTED, GPU_BUSY, NEEDS_GPU, SLEPT, THROTTLED, Reason, joined
from lab.timing import conditions as module
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.snapshot import Snapshot, between

DEVICES = Devices("cpu-virtual", [torch.device("cpu")], threads=1)
SLEEP = Reason(SLEPT, "12 s")
BEFORE = Snapshot(awake_s=100.0, since_boot_s=150.0, throttled_s=0.0, cores=2)


class FastWatch(LoadMonitor):
    """A watch that does not measure the machine's speed."""

    def speed(self) -> tuple[float, float]:
        return 1.0, 1.0


def sampled(variant: str, *values: float) -> Measurement:
    return Measurement("demo", variant, 0, values, "ms", "cpu-virtual")


# the head of the metrics


def test_conditions_count_controls_noise_and_skips():
    measured = [
        sampled("steady", *[1.0, 1.01] * 6),
        sampled(again("steady"), *[1.0] * 11, 1.001),
        sampled("counted", *[3.0] * 12),
        sampled("biased", *[1.1] * 11, 1.101),
        sampled(again("biased"), *[1.0] * 11, 1.2),
        sampled("noisy", 1.0, 2.0, 3.0),
        replace(sampled("not timed", 1.0, 2.0, 3.0), unit=""),
        skip("demo", "GPU", Reason(NEEDS_GPU), "cpu-virtual"),
    ]
    found = conditions(measured, DEVICES, FastWatch(), starts=12)
    counts = ("controls", "false_speedups", "control_starts", "control_over", "control_under")
    assert [found[name] for name in counts] == [2, 1, 24, 11, 1]
    assert (found["noisy_percent"], found["skipped"], found["starts"]) == (20.0, 1, 12)
    devices = [found[k] for k in ("device_kind", "num_devices", "threads_per_device")]
    assert devices == ["cpu-virtual", 1, 1]
    assert found["product_gflops_before"] == found["copy_gbs_after"] == 1.0
    assert not {"disturbed", "not_measurable"} & set(found)


def test_processes_that_a_deadline_left_out_are_not_counted():
    measured = [sampled(name, *[1.0] * 4) for name in ("arm", again("arm"), "other")]
    assert conditions(measured, DEVICES, FastWatch(), starts=12)["starts"] == 4


@pytest.mark.parametrize(
    ("speed", "expected"),
    [  # of three readings, 1 s, 4 s and 2 s, the median counts
        (module.product_speed, 2 * 1024**3 / 2 / 1e9),
        (module.copy_speed, 2 * 64 * 2**20 / 2 / 1e9),
    ],
)
def test_a_speed_is_counted_work_per_second(monkeypatch, speed, expected):
    clock = iter([0, 1, 10, 14, 20, 22])
    monkeypatch.setattr(module, "read_clock", lambda cpu: next(clock))
    assert speed() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("readings", "error"),
    [
        # deviations of 50, -50, -30 and 30: the root of 6800 / 3 / 4
        ((300.0, 200.0, 220.0, 280.0), (6800 / 12) ** 0.5),
        ((300.0, 200.0), 50),  # half the difference
    ],
)
def test_the_mean_speed_is_over_all_readings_and_has_an_error(monkeypatch, readings, error):
    each = iter(readings)
    monkeypatch.setattr(module, "product_speed", lambda: next(each))
    monkeypatch.setattr(module, "copy_speed", lambda: 20.0)
    watch = LoadMonitor()
    for _ in readings[1:-1]:
        watch.look()
    found = module.speed_metrics(watch)
    names = [f"product_gflops_{name}" for name in ("before", "after", "mean", "error")]
    assert [found[name] for name in names] == pytest.approx(
        [readings[0], readings[-1], 250, error], abs=1e-3
    )


def test_the_speed_is_measured_on_all_cores_even_in_a_rank(monkeypatch):
    """OMP_NUM_THREADS gives a rank one thread, whose speed could not be compared."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(module, "allowed_cores", lambda: [0, 1, 2])
    monkeypatch.setattr(module, "quota_cores", lambda: 2.5)
    threads = []
    monkeypatch.setattr(
        module, "read_clock", lambda cpu: threads.append(torch.get_num_threads()) or len(threads)
    )
    before = torch.get_num_threads()
    module.product_speed()
    assert {*threads} == {2}
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("cores", "quota", "kind", "jobs", "measurable"),
    [
        ([0], 8, "cpu-virtual", 2, False),
        ([0, 1], 1.5, "cpu-virtual", 2, False),
        ([0, 1], 2, "cpu-virtual", 2, True),
        ([3], 8, "cpu-virtual", 1, True),
        ([3], 8, "cuda", 2, True),
    ],
)
def test_concurrent_jobs_need_two_cores(monkeypatch, cores, quota, kind, jobs, measurable):
    monkeypatch.setattr(module, "allowed_cores", lambda: cores)
    monkeypatch.setattr(module, "quota_cores", lambda: quota)
    found = module.lack_metrics(Devices(kind, DEVICES.devices, 1), jobs)
    assert found == ({} if measurable else {"not_measurable": "needs_cores: 2"})


# load by other processes


@pytest.fixture
def counters(monkeypatch):
    """Fake the counters of two cores, this process and a child; a second child has just ended.

    They have counted since the machine and the processes started, long before the watch.
    """

    def ended() -> None:
        raise psutil.NoSuchProcess(1)

    cores = [SimpleNamespace(user=1e6, system=0.0, idle=1e6, iowait=0.0) for _ in range(2)]
    me, child = (SimpleNamespace(user=1e3, system=0.0, children_user=0.0) for _ in range(2))
    children = [SimpleNamespace(cpu_times=each) for each in (ended, lambda: child)]
    process = SimpleNamespace(cpu_times=lambda: me, children=lambda recursive: children)
    monkeypatch.setattr(module.psutil, "cpu_times", lambda percpu: cores)
    monkeypatch.setattr(module.psutil, "Process", lambda: process)
    monkeypatch.setattr(module, "allowed_cores", lambda: [0, 1])
    return SimpleNamespace(cores=cores, me=me, child=child)


def test_busy_percent_leaves_out_own_processes(counters):
    watch = FastWatch()
    for core in counters.cores:
        core.user += 50
        core.idle += 30
        core.system = core.iowait = 10.0
    assert watch.busy_percent() == 60
    counters.me.user += 20
    counters.me.children_user = 10.0
    counters.child.user += 40
    counters.child.system = 10.0
    assert watch.busy_percent() == 20


def test_busy_percent_counts_usable_cores_only(counters, monkeypatch):
    monkeypatch.setattr(module, "allowed_cores", lambda: [0])
    watch = FastWatch()
    counters.cores[0].idle += 10
    counters.cores[1].user += 10
    assert watch.busy_percent() == 0
    counters.cores[0].user += 30
    assert watch.busy_percent() == 75


def test_ended_children_count_as_own():
    """Uses the real counters, and a child that computes for a quarter of a second."""
    before = module._own_seconds(psutil.Process())
    loop = "import time\nwhile time.process_time() < 0.25: pass"
    subprocess.run([sys.executable, "-c", loop], check=True)
    assert module._own_seconds(psutil.Process()) - before > 0.2


@pytest.mark.parametrize(
    ("script", "percent", "disturbed"),
    [
        ("printf '3\\n97\\n'", 97, [Reason(GPU_BUSY, "97 % > 20 %")]),
        ("if [ -e asked ]; then echo 3; else touch asked; echo 55; fi", 3, []),
        ("printf '0\\n20\\n'", 20, []),
        ("echo '[N/A]'", 0, []),
        ("echo 'No devices were found'; exit 6", 0, []),
    ],
    ids=["busy", "after a stage of ours", "idle", "MIG slice", "none"],
)
def test_load_by_others_on_a_gpu_is_a_disturbance(
    monkeypatch, tmp_path, fake_nvidia_smi, script, percent, disturbed
):
    fake_nvidia_smi(script)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "GPU_PAUSE_S", 0.0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    watch = FastWatch()
    assert watch.gpu_percent == percent
    assert watch.disturbances() == disturbed


# what happened between two snapshots


@pytest.mark.parametrize(("slept_s", "found"), [(0.9, []), (12.0, [SLEEP])])
def test_sleep_is_the_difference_of_two_clocks(slept_s, found):
    after = replace(BEFORE, awake_s=160.0, since_boot_s=210.0 + slept_s)
    assert between(BEFORE, after) == found


@pytest.mark.parametrize(
    ("cores", "throttled_s", "percent"),
    [(0.5, 30, 50), (0.5, 12, None), (2, 30, 25), (2.9, 30, 25), (2, 24, None)],
)
def test_throttling_is_a_share_of_the_cores_time(cores, throttled_s, percent):
    """Over a minute; a quota below one core counts as one."""
    before = replace(BEFORE, cores=cores)
    after = Snapshot(awake_s=160.0, since_boot_s=210.0, throttled_s=throttled_s, cores=cores)
    expected = [Reason(THROTTLED, f"{percent} % > 20 %")] if percent else []
    assert between(before, after) == expected


# as stored in metrics


def test_each_kind_of_disturbance_is_kept_once(monkeypatch):
    watch = FastWatch()
    monkeypatch.setattr(watch, "disturbances", lambda: [SLEEP])
    throttled = Reason(THROTTLED, "25 % > 20 %")
    remark = f"disturbed: {joined([Reason(SLEPT, '9 s'), throttled])}"
    measured = [replace(sampled("arm", 1.0, 1.0), remark=remark), sampled("other", 1.0)]
    found = conditions(measured, DEVICES, watch, starts=2)
    text = "slept: 12 s; throttled: 25 % > 20 %"
    assert found["disturbed"] == text
    assert disturbances_of({**found, "busy_percent": 0}) == [SLEEP, throttled]


def test_a_machine_is_busy_above_the_limit():
    assert disturbances_of({"busy_percent": LIMIT_PERCENT}) == []
    assert disturbances_of({"busy_percent": 93.4}) == [Reason(BUSY, "93.4 % > 20 %")]
    both = disturbances_of({"busy_percent": 50.0, "disturbed": joined([SLEEP])})
    assert both == [Reason(BUSY, "50 % > 20 %"), SLEEP]
    assert disturbances_of({}) == disturbances_of({"busy_percent": float("nan")}) == []


@pytest.mark.parametrize(
    ("before", "after", "drifted"),
    [(100, 49, True), (49, 100, True), (100, 50, False), (50, 100, False)],
)
def test_a_machine_drifts_if_its_speed_changes_by_over_a_factor_of_two(before, after, drifted):
    for names in SPEEDS.values():
        found = disturbances_of(dict(zip(names, (before, after), strict=True)))
        assert [each.code for each in found] == [DRIFTED] * drifted
