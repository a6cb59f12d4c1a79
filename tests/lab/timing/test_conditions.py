"""The machine's speed, other processes' load, and what arms compared with themselves show."""

import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
import torch

from lab.machine.devices import Devices
from lab.machine.limits import allowed_cores
from lab.results.disturbances import (
    DISTURBED,
    GPU_BUSY,
    NOT_MEASURABLE,
    SLEPT,
    STOPPED,
    Disturbance,
    disturbances_of,
    in_words,
)
from lab.results.measurements import Measurement, again, skip
from lab.timing import conditions as module
from lab.timing.conditions import Watch, conditions, machine_speed
from tests.faults.busy_loops import LOOP, FastWatch, others_busy

DEVICES = Devices("cpu-virtual", [torch.device("cpu")], threads=1)


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


def sampled(arm: str, *values: float) -> Measurement:
    return Measurement("demo", arm, 0, values, "ms", "cpu-virtual")


def test_conditions_count_what_controls_show_noise_and_what_was_skipped(watch):
    measured = [
        sampled("steady", *[1.0, 1.01] * 6),
        sampled(again("steady"), *[1.0] * 12),
        sampled("biased", *[1.1] * 12),
        sampled(again("biased"), *[1.0] * 11, 1.2),
        sampled("noisy", 1.0, 2.0, 3.0),
        skip("demo", "GPU", "needs a CUDA GPU", "cpu-virtual"),
    ]
    found = conditions(measured, DEVICES, watch, starts=12)
    counts = ("controls", "false_speedups", "control_starts", "control_over", "control_under")
    assert [found[name] for name in counts] == [2, 1, 24, 11, 1]
    assert (found["noisy_percent"], found["skipped"], found["starts"]) == (20.0, 1, 12)
    devices = [found[k] for k in ("device_kind", "num_devices", "threads_per_device")]
    assert devices == ["cpu-virtual", 1, 1]
    assert found["product_gflops_before"] == round(watch.before[0], 3)
    assert found["copy_gbs_after"] > 0


def test_the_starts_that_were_made_are_told_and_not_those_that_were_asked_for(watch):
    """A stage that a deadline cuts has fewer; what is measured once has one sample, or its own."""
    measured = [
        *(sampled(arm, *[1.0] * 5) for arm in ("steady", again("steady"))),
        sampled("once", 1.0),
        sampled("calls", *[1.0] * 20),
    ]
    assert conditions(measured, DEVICES, watch, starts=8)["starts"] == 5
    assert conditions(measured[2:], DEVICES, watch, starts=8)["starts"] == 8


def test_the_machines_speed_is_work_over_time(monkeypatch):
    """By a clock that advances a second with each reading: 2 * 1024**3 FLOP, 2 * 64 MiB."""
    now = iter(range(1000))
    monkeypatch.setattr(module, "read_clock", lambda devices: next(now))
    assert machine_speed() == (2 * 1024**3 / 1e9, 2 * 64 * 2**20 / 1e9)


def test_other_processes_are_seen():
    with others_busy(1):
        watch = Watch()
        time.sleep(0.5)
        percent = watch.busy_percent()
    assert percent > 30 / psutil.cpu_count(), "one core's time, if the machine is quiet otherwise"


def test_children_are_no_others_while_they_live():
    """Whatever else computes meanwhile: all cores' busy time holds a child's and the others'."""
    cores = allowed_cores()
    child = subprocess.Popen([sys.executable, "-c", LOOP])
    try:
        before, (others_before, _) = psutil.cpu_times(), module._processor_seconds(cores)
        time.sleep(0.5)
        (others, _), after = module._processor_seconds(cores), psutil.cpu_times()
        mine = psutil.Process(child.pid).cpu_times()
    finally:
        child.kill()
        child.wait()
    idle = after.idle + after.iowait - before.idle - before.iowait
    computed = 0.5 * psutil.cpu_count() - idle
    assert others - others_before <= computed - 0.5 * (mine.user + mine.system)


def test_only_the_cores_that_this_process_may_use_count(monkeypatch):
    """Another tenant's load, on cores that are not ours, is none of ours."""
    idle, busy = SimpleNamespace(idle=0.0), SimpleNamespace(idle=0.0)
    vars(idle).update(user=0.0, system=0.0), vars(busy).update(user=0.0, system=0.0)
    monkeypatch.setattr(module.psutil, "cpu_times", lambda percpu: [idle, busy, busy])
    monkeypatch.setattr(module, "_own_seconds", lambda process: 0.0)
    monkeypatch.setattr(module, "allowed_cores", lambda: [0])
    watch = FastWatch()
    idle.idle, busy.user = 10.0, 10.0
    assert watch.busy_percent() == 0
    idle.user = 30.0
    assert watch.busy_percent() == 75


def test_an_undisturbed_measurement_has_no_further_metrics():
    found = conditions([sampled("arm", 1.0, 1.0)], DEVICES, FastWatch(), starts=2)
    assert not {DISTURBED, NOT_MEASURABLE} & set(found)


def test_what_disturbed_a_start_or_this_process_is_a_metric_each_kind_once(monkeypatch):
    stopped, slept = Disturbance(STOPPED, "1×"), Disturbance(SLEPT, "9 s")
    watch = FastWatch()
    monkeypatch.setattr(watch, "disturbances", lambda: [stopped])
    remark = f"disturbed: {in_words([Disturbance(STOPPED, '2×'), slept])}"
    measured = [replace(sampled("arm", 1.0, 1.0), remark=remark), sampled("other", 1.0)]
    found = conditions(measured, DEVICES, watch, starts=2)
    assert found["disturbed"] == "the process was stopped (1×); the machine slept (9 s)"
    assert disturbances_of({**found, "busy_percent": 0}) == [stopped, slept]


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
def test_jobs_at_once_need_two_cores(monkeypatch, cores, quota, kind, jobs, measurable):
    monkeypatch.setattr(module, "allowed_cores", lambda: cores)
    monkeypatch.setattr(module, "quota_cores", lambda: quota)
    found = module.lack_metrics(Devices(kind, DEVICES.devices, 1), jobs)
    assert found == ({} if measurable else {"not_measurable": "needs 2 cores"})


@pytest.mark.parametrize(
    ("said", "percent", "disturbed"),
    [
        ("printf '3\\n97\\n'", 97, [Disturbance(GPU_BUSY, "97 % > 20 %")]),
        ("printf '0\\n20\\n'", 20, []),
        ("echo '[N/A]'", 0, []),
        ("echo 'No devices were found'; exit 6", 0, []),
    ],
    ids=["busy", "idle", "a part of a GPU", "none"],
)
def test_a_gpu_that_others_use_at_the_beginning_is_noticed(
    monkeypatch, tmp_path, said, percent, disturbed
):
    """By a stand-in for nvidia-smi: there is no GPU to load."""
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{said}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    watch = FastWatch()
    assert watch.gpu_percent == percent
    assert watch.disturbances() == disturbed


def test_without_a_gpu_nobody_asks_for_its_load(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(module, "query", None)
    assert module.gpu_percent() == 0
