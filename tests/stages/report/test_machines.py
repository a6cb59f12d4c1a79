"""Pages of results of this machine and of others, and drawings that fail."""

import importlib
from dataclasses import replace

import pytest
from markupsafe import Markup

from lab.core.errors import LabError
from lab.core.files import read_json, write_json
from lab.core.process import run
from stages.report import __main__ as report
from stages.report import about
from stages.report.calls import QuestionCalls
from tests.helpers import hardware
from tests.stages.report.texts import text_of

pytestmark = pytest.mark.slow


def in_this_process(stages, folders, evidence):
    drawn = {stage: report.draw_stage(stage, folders, evidence) for stage in stages}
    return {language: {stage: drawn[stage][language] for stage in stages} for language in folders}


@pytest.fixture
def draw(project, monkeypatch):
    """Return a function that makes pages without figures, in this process, and returns texts."""
    monkeypatch.setattr(QuestionCalls, "figure", lambda *_, **__: Markup())
    monkeypatch.setattr("sys.argv", ["report"])

    monkeypatch.setattr(report, "draw", in_this_process)

    def pages() -> dict[str, str]:
        report.main()
        reports = project / "reports"
        texts = [*reports.rglob("*.html"), reports / "README.md"]
        return {path.relative_to(reports).as_posix(): path.read_text() for path in texts}

    return pages


def test_results_of_a_different_machine_are_labelled_with_its_name(project, draw, caplog):
    assert not any("Not of this machine" in text for text in draw().values())
    write_json(project / "reports" / "hardware.json", hardware("Threadripper"))
    path = project / "reports" / "bench_parallel" / "conditions.json"
    write_json(path, read_json(path) | {"machine": hardware("Threadripper")})
    found = draw()
    for page in ("index.html", "index.zh.html"):
        assert "Threadripper" in found[page]
        assert "AMD EPYC" in found[page]
    assert "Not of this machine" in found["index.html"]
    assert "measured this: AMD EPYC" in found["pages/bench_overlap.html"]
    assert "measured this" not in found["pages/bench_parallel.html"]
    assert "bench_overlap" in caplog.text


def test_a_failed_drawing_leaves_the_pages_unchanged(project, draw, monkeypatch):
    before = draw()
    figure = project / "reports" / "figures" / "mine.svg"
    figure.parent.mkdir(exist_ok=True)
    figure.write_text("<svg/>")
    monkeypatch.setattr(about, "pages", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report.main()
    found = {page: (project / "reports" / page).read_text() for page in before}
    assert found == before
    assert figure.exists()


def test_a_figure_that_fails_is_the_only_thing_missing(project, monkeypatch, capsys):
    """The command reports it at its end, after drawing everything else."""
    figures = importlib.import_module("stages.bench_async.page.figures")
    good = figures.figures

    def one_broken(*given):
        first, *others = good(*given)
        return [replace(first, panels=[lambda path: 1 / 0]), *others]

    monkeypatch.setattr(figures, "figures", one_broken)
    monkeypatch.setattr(report, "draw", in_this_process)
    monkeypatch.setattr("sys.argv", ["report", "bench_async", "bench_input"])
    assert run(report.main) == LabError.exit_code
    [broken] = {line for line in capsys.readouterr().err.splitlines() if line}
    assert "figure async_numpy" in broken
    pages = project / "reports" / "pages"
    html = (pages / "bench_async.html").read_text()
    assert "ZeroDivisionError" not in html
    assert text_of(html).words > 200
    assert html.count("<svg") == (pages / "bench_async.zh.html").read_text().count("<svg")
    assert "<svg" in (pages / "bench_input.html").read_text()
