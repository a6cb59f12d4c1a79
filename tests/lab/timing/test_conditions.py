"""The machine's speed, other processes' load, and what arms compared with themselves show."""

import subprocess
import sys
import time

import psutil
import pytest
import torch

from lab.machine.devices import Devices
from lab.results.measurements import Measurement, again, skip
from lab.timing import conditions as module
from lab.timing.conditions import Watch, conditions, machine_speed

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


def test_the_machines_speed_is_work_over_time(monkeypatch):
    """By a clock that advances a second with each reading: 2 * 1024**3 FLOP, 2 * 64 MiB."""
    now = iter(range(1000))
    monkeypatch.setattr(module, "read_clock", lambda devices: next(now))
    assert machine_speed() == (2 * 1024**3 / 1e9, 2 * 64 * 2**20 / 1e9)


BUSY = "while True: pass"
LAUNCHER = """
import subprocess, sys
quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
print(subprocess.Popen([sys.executable, "-c", sys.argv[1]], **quiet).pid)
"""


def test_other_processes_are_seen():
    command = [sys.executable, "-c", LAUNCHER, BUSY]
    launched = subprocess.run(command, capture_output=True, check=True)
    busy = psutil.Process(int(launched.stdout))  # whose launcher is gone, so that it is no child
    try:
        watch = Watch()
        time.sleep(0.5)
        percent = watch.busy_percent()
    finally:
        busy.kill()
    assert percent > 30 / psutil.cpu_count(), "one core's time, if the machine is quiet otherwise"


def test_children_are_no_others_while_they_live():
    """Whatever else computes meanwhile: all cores' busy time holds a child's and the others'."""
    with subprocess.Popen([sys.executable, "-c", BUSY]) as child:
        before, (others_before, _) = psutil.cpu_times(), module._processor_seconds()
        time.sleep(0.5)
        (others, _), after = module._processor_seconds(), psutil.cpu_times()
        mine = psutil.Process(child.pid).cpu_times()
        child.kill()
    idle = after.idle + after.iowait - before.idle - before.iowait
    computed = 0.5 * psutil.cpu_count() - idle
    assert others - others_before <= computed - 0.5 * (mine.user + mine.system)
