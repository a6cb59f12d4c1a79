"""What holds of every benchmark: its rows, its metrics, and its page for each kind of machine."""

import importlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.core.files import write_metrics
from lab.report import benchmarks
from lab.report.language import speaking
from lab.report.page import Section
from lab.results.documents import read_metrics
from stages.report import catalogue
from tests.helpers import ROOT, draw
from tests.made_up import BENCHES

KINDS = ("cpu-virtual", "cuda")


KEPT_FROM_TELLING = {
    "busy": ({"busy_percent": 93.2}, "busy (93.2 % > 20 %)"),
    "disturbed": ({"disturbed": "the machine slept (9 s)"}, "slept (9 s)"),
    "one core": ({"not_measurable": "needs 2 cores"}, "needs 2 cores"),
}


def sections(reports: Path) -> Iterator[tuple[str, str, Section]]:
    """Every benchmark's part of the page, with its stage and the kind of machine."""
    for kind in KINDS:
        for stage in BENCHES:
            module = importlib.import_module(f"stages.{stage}.page.section")
            yield stage, kind, module.section(reports / kind / stage)


@pytest.fixture(scope="module")
def figures(made_up_reports, tmp_path_factory) -> Path:
    """The figures of all of them, in <kind of device>/<stage>/."""
    folder = tmp_path_factory.mktemp("figures")
    for stage, kind, part in sections(made_up_reports):
        draw(part, folder / kind / stage)
    return folder


@pytest.mark.slow
def test_the_page_of_each_kind_of_machine(made_up_reports, figures):
    for stage, kind, part in sections(made_up_reports):
        assert part.stage == stage
        drawn = {path.stem for path in (figures / kind / stage).iterdir()}
        assert drawn == {Path(f).stem for figure in part.figures for f in figure.files}, stage
        text = " ".join([part.answer, *part.findings])
        assert not re.search(r"\bnan\b|None", text), (stage, kind, text)
        says_virtual = "virtual" in text
        assert says_virtual == (kind == "cpu-virtual"), f"{stage}: {text}"
        for table in part.tables:
            assert all(len(row) == len(table.header) for row in table.rows), (stage, table.header)


@pytest.mark.parametrize("how", KEPT_FROM_TELLING)
def test_a_section_on_times_that_decide_nothing_is_one_sentence(made_up_reports, how):
    more, words = KEPT_FROM_TELLING[how]
    chinese = catalogue.read("zh")
    for stage, kind, part in sections(made_up_reports):
        m = read_metrics(made_up_reports / kind / stage)
        assert benchmarks.without_times(part, m) == part, "where nothing happened"
        found = benchmarks.without_times(part, {**m, **more})
        assert words in found.answer, stage
        assert len(found.answer.split()) <= 25
        said = (found.stage, found.title, found.book, found.question)
        assert found == Section(*said, found.answer, findings=[], figures=[]), stage
        with speaking("zh", chinese):
            in_chinese = benchmarks.without_times(part, {**m, **more}).answer
        known = {"invoke", "remeasure", "stage", *stage.split("_")}
        assert set(re.findall("[A-Za-z]{2,}", in_chinese)) <= known, in_chinese
        assert re.findall(r"\d+", in_chinese) == re.findall(r"\d+", found.answer)


@pytest.mark.parametrize("stage", ["optimizers", "parallelism"])
def test_a_section_on_counts_leaves_out_its_times_alone(stage, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    committed = ROOT / "reports" / stage
    shutil.copytree(committed, tmp_path / stage)
    metrics = read_metrics(committed)
    write_metrics(tmp_path / stage, {**metrics, "busy_percent": 93.2})
    module = importlib.import_module(f"stages.{stage}.page.section")
    quiet, busy = module.section(committed), module.section(tmp_path / stage)
    assert benchmarks.without_times(busy, {**metrics, "busy_percent": 93.2}) == busy
    assert busy.answer == quiet.answer
    assert [f.name for f in busy.figures] == [
        f.name for f in quiet.figures if f.name not in ("step_time", "parallelism_times")
    ]
    [sentence] = set(busy.findings) - set(quiet.findings)
    assert "the machine was busy (93.2 % > 20 %)" in sentence
    left_out = set(quiet.findings) - set(busy.findings)
    assert left_out
    assert all(re.search(r" ms |fresh starts|timings|raced", each) for each in left_out)
