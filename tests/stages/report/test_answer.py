"""The answer that a stage prints as it ends, for the committed results."""

import shutil

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.core.files import read_json, write_json
from lab.core.process import run
from lab.report.prose import read_front
from lab.tools.profiles import merge
from stages.report.answer import answer
from stages.report.site import STAGES
from tests.helpers import COMMITTED, ROOT, hardware


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder with the committed results, as if this machine had measured them."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(COMMITTED / "reports", tmp_path / "reports")
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    shutil.copy(COMMITTED / "params.yaml", tmp_path)
    return tmp_path


@pytest.mark.parametrize("stage", BOOK_ORDER)
def test_an_answer_is_the_question_the_finding_of_the_index_and_a_count(render, stage):
    front, page = read_front(STAGES / stage / "page" / "en.md"), render(stage, "en")
    told = answer(f"{stage}@lenet_2gpu" if stage == "train" else stage)
    assert told[0].startswith(f"{front['title']} (1") and len(told) in (2, 3)
    assert told[1].strip() == page.finding.striptags()
    claims = (STAGES / stage / "page" / "claims.yaml").is_file()
    assert len(told) == 2 or (claims and told[2].startswith("  statements: "))


def test_a_stage_that_asks_nothing_answers_nothing(here):
    assert answer("probe") == answer("fetch") == answer("claims") == answer("report") == []


def test_disturbed_times_give_no_answer(here):
    path = here / "reports" / "bench_async" / "conditions.json"
    write_json(path, read_json(path) | {"busy_percent": 60.0})
    _, why = answer("bench_async")
    assert "busy (60 % > 20 %)" in why and "×" not in why


def test_results_of_a_different_machine_or_of_little_data_give_no_answer(here):
    (here / "params.yaml").write_text(merge("smoke", ROOT / "profiles", ROOT / "params.yaml"))
    assert answer("optimizers") == []
    shutil.copy(COMMITTED / "params.yaml", here)
    assert answer("optimizers") != []
    write_json(here / "reports" / "hardware.json", hardware("another"))
    assert answer("optimizers") == []


def test_an_answer_that_fails_ends_no_stage(here, monkeypatch, capsys):
    (here / "reports" / "scaling" / "rows.csv").write_text("not rows")
    monkeypatch.setenv("DVC_STAGE", "scaling")
    monkeypatch.setattr("lab.core.process.die_with_parent", lambda: None)  # it would end pytest
    assert run(lambda: None) == 0
    assert "scaling: no answer" in capsys.readouterr().out
