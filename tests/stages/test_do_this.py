"""Each page's do_this.py runs on the device that is available, and shows its point.

Times are not compared: on a busy machine a script may print that it cannot tell.
"""

import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import ROOT

FILES = sorted((ROOT / "stages").glob("*/do_this.py"))
BUSY = "too busy to tell: try again"
Lines = list[list[float]]  # the numbers in each printed line
GUESSING = math.log(10)  # the loss of a net that cannot tell ten classes apart


def two_times_or_none(lines: Lines) -> bool:
    return lines == [[]] or [len(times) for times in lines] == [1, 1]


def same_loss_that_falls(lines: Lines) -> bool:
    [one_by_one, in_memory], *times = lines
    return (
        in_memory == pytest.approx(one_by_one, abs=0.02)
        and in_memory < GUESSING - 0.05
        and two_times_or_none(times)
    )


def as_many_calls_as_the_build_takes(lines: Lines) -> bool:
    """Fewer than five lines: not compiled, or not surely faster. Times are rounded to µs."""
    if len(lines) < 5:
        return len(lines) >= 3
    [built], _, [plain], [compiled], [pays] = lines
    return abs(1e6 * built - pays * (plain - compiled)) <= 6e4 + 1.1 * pays


def larger_batch_needs_a_higher_rate(lines: Lines) -> bool:
    small, same_rate, scaled = (loss for _, _, loss in lines)
    return max(small, scaled) < same_rate < GUESSING


def intensity(images: int) -> float:
    """Return the FLOP per byte of a layer with 1024 × 1024 weights."""
    numbers = 1024**2 + 2 * 1024 * images  # weights, inputs and outputs
    return 2 * 1024**2 * images / (4 * numbers)


def flop_per_byte_by_hand(lines: Lines) -> bool:
    return all(
        found == pytest.approx(intensity(int(images)), rel=0.06) for images, found in lines[1:]
    )


def lenets_bytes(lines: Lines) -> bool:
    """LeNet has 129,068 parameters, and 800 activations at the cut."""
    return lines == [[516.3], [3.2], [round(129_068 / 800)]]


def coordinates_of_their_own_scale_win(lines: Lines) -> bool:
    sgd, adagrad, adam = (losses for _, *losses in lines)
    return max(*adagrad, *adam) < min(sgd)


POINTS: dict[str, Callable[[Lines], bool]] = {
    "bench_async": lambda lines: lines[0][0] <= lines[1][0],  # called, then ready
    "bench_compile": as_many_calls_as_the_build_takes,
    "bench_hardware": flop_per_byte_by_hand,
    "bench_input": two_times_or_none,
    "bench_overlap": two_times_or_none,
    "bench_parallel": two_times_or_none,
    "bench_training": same_loss_that_falls,
    "convergence": larger_batch_needs_a_higher_rate,
    "landscapes": lambda lines: 1.1 * lines[0][0] < lines[1][0],
    "optimizers": coordinates_of_their_own_scale_win,
    "parallelism": lenets_bytes,
    "scaling": lambda lines: lines == [[2]],  # the number of processes to launch
    "replicas": lambda lines: lines[0][0] > 1e-4 and lines[1][0] == 0,
    "schedules": lambda lines: lines[0][1] == 0.3 and 2 * lines[-1][2] < lines[1][2],
    "train": lambda lines: lines[0][0] < 1e-3 < 1 < lines[1][0],
}


def numbers(told: list[str]) -> Lines:
    """Return the numbers in each line."""
    number = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")
    return [[float(found.replace(",", "")) for found in number.findall(line)] for line in told]


def printed(file: Path, folder: Path, *launcher: str) -> list[str]:
    """Return the lines that a script prints in a process that cannot import the project."""
    (folder / "do_this.py").write_text(file.read_text())
    ended = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", *launcher, "do_this.py"],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_the_script_runs_without_the_lab_and_shows_its_point(file, tmp_path):
    told = printed(file, tmp_path)
    assert POINTS[file.parent.name](numbers(told)), told


@pytest.mark.slow
def test_two_processes_print_the_time_that_all_reduce_adds(tmp_path):
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2")
    [line] = printed(ROOT / "stages/scaling/do_this.py", tmp_path, *launcher)
    assert line == BUSY or re.fullmatch(r"all-reduce: [\d.]+ ms a step", line)
