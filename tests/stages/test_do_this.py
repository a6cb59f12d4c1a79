"""The code that pages offer to take home runs, on whatever device there is, and shows its point."""

import math
import os
import re
from collections.abc import Callable

import pytest

from tests import forked
from tests.helpers import ROOT

FILES = sorted((ROOT / "stages").glob("*/do_this.py"))
STRICT = f"""
import sys, warnings
sys.path.remove({str(ROOT)!r})
warnings.simplefilter("error", UserWarning)
"""
Lines = list[list[float]]  # the numbers of each line that is printed
GUESSING = math.log(10)  # the loss of a net that cannot tell ten classes apart


def same_loss_that_falls(lines: Lines) -> bool:
    [one_by_one, _], [in_memory, _] = lines
    return in_memory == pytest.approx(one_by_one, abs=0.02) and in_memory < GUESSING - 0.3


def larger_batch_needs_a_higher_rate(lines: Lines) -> bool:
    small, same_rate, scaled = (loss for _, _, loss in lines)
    return max(small, scaled) < same_rate < GUESSING


def intensity(images: int) -> float:
    """FLOP per byte of a layer of 1024 by 1024 weights."""
    numbers = 1024**2 + 2 * 1024 * images  # the weights, what comes in and what goes out
    return 2 * 1024**2 * images / (4 * numbers)


def flop_per_byte_by_hand(lines: Lines) -> bool:
    return all(
        found == pytest.approx(intensity(int(images)), rel=0.06) for images, found in lines[1:]
    )


def lenets_bytes(lines: Lines) -> bool:
    """It has 129,068 parameters, and 800 activations where it is cut."""
    return lines == [[516.3], [3.2], [round(129_068 / 800)]]


def coordinates_of_their_own_scale_win(lines: Lines) -> bool:
    sgd, adagrad, adam = (losses for _, *losses in lines)
    return max(*adagrad, *adam) < min(sgd)


POINTS: dict[str, Callable[[Lines], bool]] = {  # of those that print more than times
    "bench_hardware": flop_per_byte_by_hand,
    "bench_training": same_loss_that_falls,
    "convergence": larger_batch_needs_a_higher_rate,
    "landscapes": lambda lines: 1.1 * lines[0][0] < lines[1][0],
    "optimizers": coordinates_of_their_own_scale_win,
    "parallelism": lenets_bytes,
    "replicas": lambda lines: lines[0][0] > 1e-4 and lines[1][0] == 0,
    "schedules": lambda lines: lines[0][1] == 0.3 and 2 * lines[-1][2] < lines[1][2],
    "train": lambda lines: lines[0][0] < 1e-3 < 1 < lines[1][0],
}


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_it_runs_without_the_lab_and_shows_its_point(file, tmp_path):
    """In a folder that holds nothing of the project."""
    (tmp_path / "do_this.py").write_text(STRICT + file.read_text())
    ended = forked.run("do_this", cwd=tmp_path, env=os.environ)
    assert ended.returncode == 0, ended.stderr
    printed = ended.stdout.splitlines()
    assert printed
    lines = [
        [float(found) for found in re.findall(r"(?<!\w)\d+(?:\.\d+)?(?:e[+-]\d+)?", line)]
        for line in printed
    ]
    assert POINTS.get(file.parent.name, lambda lines: True)(lines), ended.stdout
