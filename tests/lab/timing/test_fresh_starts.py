"""A benchmark measured in fresh processes: one start, one value."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from lab.core.errors import LabError
from lab.results.measurements import SKIPPED, Measurement, skip
from lab.timing.fresh_starts import measure_in_starts, merge

PROGRAM = """
import os
from lab.results.measurements import Measurement, skip

print("a library's own words")

def measure(start):
    if start == 2:
        raise SystemExit(4)
    times = (3.0 + start, 1.0 + start, 2.0 + start)
    return [
        Measurement("demo", "arm", 1, times, "ms", "cpu-virtual", 1),
        Measurement("demo", "process", 1, (float(os.getpid()),), "", "cpu-virtual", 1),
        skip("demo", "GPU", "needs a CUDA GPU", "cpu-virtual"),
    ]
"""


DISTURBED = """
from lab.results.measurements import Measurement, skip
from lab.timing import readings

def measure(start):
    if start == 1:
        readings.throttled_seconds = lambda cgroups: 1e6
    return [
        Measurement("demo", "arm", 1, (1.0 + start,), "ms", "cpu-virtual", 1),
        skip("demo", "GPU", "needs a CUDA GPU", "cpu-virtual"),
    ]
"""


@pytest.fixture
def disturbed_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """One whose second start finds that its quota held it back."""
    (tmp_path / "disturbed_program.py").write_text(DISTURBED)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("disturbed_program")
    del sys.modules["disturbed_program"]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module that a child process can import by its name."""
    (tmp_path / "some_program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("some_program")
    del sys.modules["some_program"]


def test_each_start_is_a_process_and_gives_the_median_of_its_samples(program):
    arm, process, gpu = measure_in_starts(program, 2)
    assert arm.values == (2.0, 3.0)
    assert len({*process.values, float(os.getpid())}) == 3
    assert gpu.remark == f"{SKIPPED}needs a CUDA GPU"


def test_a_start_that_fails_ends_the_measurement(program):
    with pytest.raises(LabError, match="some_program, start 2, ended with code 4"):
        measure_in_starts(program, 3)


def test_a_disturbed_start_is_remarked_on(disturbed_program):
    arm, gpu = measure_in_starts(disturbed_program, 3)
    assert arm.values == (1.0, 2.0, 3.0)
    assert arm.remark.startswith("disturbed: the CPU quota held it back (")
    assert gpu.remark == f"{SKIPPED}needs a CUDA GPU"
    [undisturbed, _] = measure_in_starts(disturbed_program, 1)
    assert undisturbed.remark == ""


def timed(arm: str, *values: float) -> Measurement:
    return Measurement("demo", arm, 0, values, "ms", "cpu-virtual")


def test_starts_are_merged_in_their_order_whatever_the_order_of_their_arms():
    one, two = [timed("A", 1, 2, 9), timed("B", 5)], [timed("B", 6), timed("A", 4)]
    assert merge([one, two]) == [timed("A", 2, 4), timed("B", 5, 6)]


def test_what_one_start_skipped_is_skipped():
    gone = skip("demo", "A", "does not build here", "cpu-virtual")
    assert merge([[gone], [gone]]) == [gone]
    once = Measurement("demo", "A", 0, (1.0,), "ms", "cpu-virtual")
    assert merge([[once], [gone]]) == [gone]


def test_starts_that_measured_different_things_are_no_samples():
    with pytest.raises(LabError, match="different things"):
        merge([[timed("A", 1)], [timed("B", 1)]])


TOLD_PROGRAM = """
import os
from lab.results.measurements import Measurement

def measure(start, rows, images):
    values = (float(os.getpid()),)
    return [Measurement("demo", f"{images} images", rows, values, "", "cpu")]
"""


def test_every_start_is_told_the_same(tmp_path, monkeypatch):
    (tmp_path / "told_program.py").write_text(TOLD_PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    program = importlib.import_module("told_program")
    try:
        [m] = measure_in_starts(program, 2, 640, 256)
    finally:
        del sys.modules["told_program"]
    assert (m.x, m.arm) == (640, "256 images")
    assert len({*m.values, float(os.getpid())}) == 3
