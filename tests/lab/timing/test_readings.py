"""What two readings tell of what happened between them: made-up ones, and real ones."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lab.timing import readings
from lab.timing.readings import Reading, between, read

BEFORE = Reading(
    awake_s=100.0,
    since_boot_s=150.0,
    clock_s=1e9,
    stops=0,
    cores=2,
    quota=float("inf"),
    throttled_s=0.0,
)
AFTER = replace(BEFORE, awake_s=160.0, since_boot_s=210.0, clock_s=1e9 + 60)  # a minute later


def happened(**changes: float) -> list[str]:
    """What is said if, beside a minute that passed, some readings changed by this much."""
    changed = {name: getattr(AFTER, name) + change for name, change in changes.items()}
    return list(map(str, between(BEFORE, replace(AFTER, **changed))))


def test_a_minute_in_which_nothing_happened():
    assert happened() == []
    assert happened(clock_s=0.9, since_boot_s=0.05, throttled_s=10.0) == [], "within what is usual"


def test_the_machine_slept():
    assert happened(since_boot_s=12.0, clock_s=12.0) == ["the machine slept (12 s)"]


@pytest.mark.parametrize(
    ("jump", "said"), [(3600.0, "+3600 s"), (-3600.0, "-3600 s"), (-61.0, "-61 s")]
)
def test_the_clock_was_set(jump, said):
    assert happened(clock_s=jump) == [f"the system's clock was set ({said})"]


def test_a_clock_that_is_urged_on_for_hours_was_not_set():
    """Time servers correct by half a thousandth at most."""
    later = replace(BEFORE, awake_s=10900.0, since_boot_s=10950.0, clock_s=1e9 + 10800 * 1.0005)
    assert between(BEFORE, later) == []


def test_the_cores_changed():
    assert happened(cores=-1) == ["the usable cores changed (2 → 1)"]
    small = replace(AFTER, quota=0.5)
    assert list(map(str, between(BEFORE, small))) == ["the CPU quota changed (inf → 0.5)"]


@pytest.mark.parametrize(
    ("quota", "cores", "throttled_s", "percent"),
    [(0.5, 2, 30, 50), (0.5, 2, 12, None), (2, 64, 30, 25), (2, 64, 24, None), (8, 2, 30, 25)],
)
def test_a_quota_that_holds_back_for_over_a_fifth_of_the_cores_time(
    quota, cores, throttled_s, percent
):
    before = replace(BEFORE, quota=quota, cores=cores)
    after = replace(AFTER, quota=quota, cores=cores, throttled_s=throttled_s)
    expected = [f"the CPU quota held it back ({percent} % > 20 %)"] if percent else []
    assert list(map(str, between(before, after))) == expected


def test_a_quota_is_read_where_the_cgroup_has_it(tmp_path):
    (tmp_path / "cpu.max").write_text("200000 100000\n")
    (tmp_path / "cpu.stat").write_text("nr_throttled 1\nthrottled_usec 0\n")
    before = read([tmp_path])
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    (tmp_path / "cpu.stat").write_text("nr_throttled 2\nthrottled_usec 900000000\n")
    kinds = [str(each).partition(" (")[0] for each in between(before, read([tmp_path]))]
    assert kinds == ["the CPU quota changed", "the CPU quota held it back"]


def test_readings_of_this_machine_a_moment_apart_tell_of_nothing():
    first = read()
    time.sleep(0.05)
    second = read()
    assert between(first, second) == []
    assert second.awake_s > first.awake_s
    assert second.since_boot_s - second.awake_s == pytest.approx(
        first.since_boot_s - first.awake_s, abs=0.01
    )


STOPPED = """
import sys
from lab.timing.readings import between, read
before = read()
print("measuring", flush=True)
sys.stdin.readline()
print("; ".join(map(str, between(before, read()))))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="nothing stops a process here")
def test_a_process_that_was_stopped_from_outside_knows_it():
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "measuring\n"
        for _ in range(2):
            process.send_signal(signal.SIGSTOP)
            while psutil.Process(process.pid).status() != psutil.STATUS_STOPPED:
                time.sleep(0.01)
            process.send_signal(signal.SIGCONT)
            while psutil.Process(process.pid).status() == psutil.STATUS_STOPPED:
                time.sleep(0.01)
            time.sleep(0.05)
        out, _ = process.communicate("go on\n", timeout=20)
    assert out in {f"the process was stopped (≥ {n}×)\n" for n in (1, 2)}


def test_a_stop_is_heard_without_ending_what_the_process_waits_for():
    """What was waiting waits on, and nobody else's signals change."""
    terminate = signal.getsignal(signal.SIGTERM)
    before = read()
    os.kill(os.getpid(), signal.SIGCONT)
    time.sleep(0.01)
    assert between(before, read()) == [readings.Disturbance("the process was stopped", "≥ 1×")]
    assert signal.getsignal(signal.SIGTERM) is terminate
