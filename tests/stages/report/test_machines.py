"""Pages over results of this machine and of others, and pages in a clone, which has no data."""

import shutil

import pytest

from lab.core.errors import DataError
from lab.core.files import read_json, write_json
from stages.report import __main__ as report
from stages.report import sections
from tests.helpers import hardware

PAGES = ("index.html", "index.zh.html", "README.md")


@pytest.fixture
def draw(project, monkeypatch):
    """Make the pages without their stages' figures, and return their texts."""
    monkeypatch.setattr(report, "draw_figures", lambda *_: {})

    def pages():
        report.main()
        return {page: (project / "reports" / page).read_text() for page in PAGES}

    return pages


def test_no_result_passes_as_the_machines_that_draws_the_page(project, draw, caplog):
    assert not any("Not of this machine" in text for text in draw().values())
    write_json(project / "reports" / "hardware.json", hardware("Threadripper"))
    path = project / "reports" / "bench_parallel" / "conditions.json"
    write_json(path, read_json(path) | {"machine": hardware("Threadripper")})
    english, chinese, summary = draw().values()
    for text in (english, chinese, summary):
        assert "Threadripper" in text
        assert "AMD EPYC" in text
    assert "another machine" in summary
    parts = {part.partition('"')[0]: part for part in english.split('<section id="')}
    assert "Another machine measured this: AMD EPYC" in parts["bench_overlap"]
    assert "nother machine" not in parts["bench_parallel"]
    assert "bench_overlap" in caplog.text


def test_a_clone_without_data_has_its_pages(project, draw):
    shutil.rmtree(project / "data")
    english = draw()["index.html"]
    assert "invoke repro --stage fetch" in english
    assert 'id="figure-confusion"' in english
    assert 'id="figure-worst"' not in english


def test_a_failed_drawing_leaves_the_pages_as_they_were(project, draw, monkeypatch):
    before = draw()
    figures = {path: path.read_bytes() for path in (project / "reports/figures").iterdir()}
    monkeypatch.setattr(report, "content", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report.main()
    assert {page: (project / "reports" / page).read_text() for page in PAGES} == before
    assert {path: path.read_bytes() for path in (project / "reports/figures").iterdir()} == figures


def test_figures_that_nothing_draws_any_more_are_deleted(project, draw):
    old = project / "reports" / "figures" / "of_a_stage_that_went.svg"
    old.parent.mkdir(exist_ok=True)
    old.write_text("<svg/>")
    draw()
    assert not old.exists()


def test_a_section_without_a_place_is_an_error(monkeypatch):
    monkeypatch.setattr(sections, "MEASURED", sections.MEASURED[:-1])
    with pytest.raises(DataError, match=r"train: .*book_order\.py"):
        sections.groups()
