"""Pages of the committed results, perturbed as on other machines, stay complete and true."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.core.files import CONDITIONS, ROWS, read_rows, write_json, write_rows
from lab.core.params import PARAMS_FILE
from lab.results.documents import read_conditions
from lab.results.measurements import Measurement, measurements_of, rows_of, skip
from stages.bench_compile.measure import names as compiled
from stages.bench_training.measure.names import COMPILED
from stages.claims.__main__ import main as judge_claims
from stages.own_network.measure import names as own
from stages.report.__main__ import draw_stage
from stages.report.calls import QuestionCalls
from stages.report.evidence import read_evidence
from tests import made_up
from tests.helpers import COMMITTED, committed_params
from tests.stages.report.texts import Text, check_whole

pytestmark = pytest.mark.slow

TIMES = ("s", "ms", "us", "ns")
RATES = ("GFLOP/s", "GB/s", "billion sums/s", "images/s")
NEED_A_COMPILER = {  # variants by experiment
    "call": (compiled.COMPILE, compiled.AOT),
    "front_end": ("C++",),
    "latency": ("dependent loads", "loads in order"),
    "lenet": (COMPILED,),
    "one technique": (own.COMPILE, own.GRAPH),
    "resnet18": (COMPILED,),
}
NUMBER = r"(−?[\d.,]+\d|−?\d)"
POSITIVE = r"×|%| (?:h|s|ms|µs|ns|GB/s|GFLOP/s)"  # units of numbers that cannot be negative
WITH_INTERVAL = re.compile(
    rf"{NUMBER}({POSITIVE}| points) \((?:99% interval )?{NUMBER}(?:–| to ){NUMBER}"
)
DRAW = QuestionCalls.figure  # the original, which a fixture replaces

Change = Callable[[list[Measurement]], list[Measurement]]


def of_times(change: Callable[[np.ndarray, int], np.ndarray]) -> Change:
    """Change a stage's times, and its rates as the inverse of times; `i` numbers measurements."""

    def changed(m: Measurement, i: int) -> Measurement:
        if m.unit not in (*TIMES, *RATES) or not m.values:
            return m
        values = np.asarray(m.values)
        found = change(values, i) if m.unit in TIMES else 1 / change(1 / values, i)
        return replace(m, values=tuple(found.tolist()))

    return lambda measured: [changed(m, i) for i, m in enumerate(measured)]


def first_slower(times: np.ndarray, i: int) -> np.ndarray:
    """Make every third measurement of the first process take 50 times as long."""
    return times * np.where((np.arange(len(times)) == 0) & (i % 3 == 0), 50, 1)


def without_a_compiler(measured: list[Measurement]) -> list[Measurement]:
    return [
        skip(m.experiment, m.variant, "needs g++", m.device_kind)
        if m.variant in NEED_A_COMPILER.get(m.experiment, ())
        else m
        for m in measured
    ]


PERTURBED: dict[str, Change] = {
    "a process 50 times slower at times": of_times(first_slower),
    "all equal": of_times(lambda times, i: np.ones_like(times)),
    "one sample": lambda measured: [replace(m, values=m.values[:1]) for m in measured],
    "no compiler": without_a_compiler,
}


def write(stage: str, reports: Path, change: Change) -> None:
    """Write a stage's committed results, perturbed, with their conditions."""
    committed, folder = COMMITTED / "reports" / stage, reports / stage
    shutil.copytree(committed, folder)
    if stage == "train":  # its runs have no samples
        return
    made = change(measurements_of(read_rows(committed / ROWS)))
    conditions = read_conditions(committed)
    if stage in made_up.BENCHES:
        starts = max(len(m.values) for m in made)
        conditions |= made_up.conditions_of(stage, made, conditions["device_kind"], starts)
    write_rows(folder, rows_of(made))
    write_json(folder / CONDITIONS, conditions)


def intervals_that_lie(text: Text) -> list[str]:
    """Return a page's numbers outside their own intervals, and times and ratios below 0."""
    found = []
    for match in WITH_INTERVAL.finditer(text.visible + text.folded):
        value, low, high = (float(match[i].replace(",", "").replace("−", "-")) for i in (1, 3, 4))
        if not low <= value <= high or (low < 0 and re.fullmatch(POSITIVE, match[2])):
            found.append(match[0])
    return found


@pytest.mark.parametrize("how", PERTURBED)
def test_every_page_is_complete_and_true(how, render, tmp_path, monkeypatch):
    """Only the English figures are drawn, since both languages draw with the same code."""
    reports = tmp_path / "reports"
    (tmp_path / PARAMS_FILE).write_text(committed_params())
    monkeypatch.chdir(tmp_path)
    for stage in BOOK_ORDER:
        write(stage, reports, PERTURBED[how])
    for each in ("fetch/conditions.json", "hardware.json"):
        (reports / each).parent.mkdir(exist_ok=True)
        shutil.copy(COMMITTED / "reports" / each, reports / each)
    judge_claims()
    evidence = read_evidence(reports)
    wrong = {}
    for stage in BOOK_ORDER:
        try:
            chinese = check_whole(stage, "zh", render(stage, "zh", evidence))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(QuestionCalls, "figure", DRAW)
                page = draw_stage(stage, {"en": tmp_path}, evidence)["en"]
            english = check_whole(stage, "en", page)
            only = {n for n in english.numbers ^ chinese.numbers if not n.isdigit() or int(n) > 12}
            assert only == set()
            assert intervals_that_lie(english) == []
        except AssertionError as error:
            wrong[stage] = str(error).splitlines()[:3]
    assert wrong == {}
