"""Each question's page as text: both languages tell the same, every outcome has its words.

`pytest tests/stages/report/test_texts.py -k NAME` checks the page of one stage.
"""

import importlib
import re
import shutil

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.core.files import read_json, write_json
from tests import made_up
from tests.helpers import COMMITTED
from tests.made_up import BENCHES
from tests.stages.report.texts import check, text_of


@pytest.mark.parametrize("stage", BOOK_ORDER)
def test_both_languages_show_the_same_numbers(render, stage):
    english, chinese = (check(stage, lang, render(stage, lang)) for lang in ("en", "zh"))
    only = {n for n in english.numbers ^ chinese.numbers if not n.isdigit() or int(n) > 12}
    assert only == set()  # small counts may be words in one of them
    assert len(english.figures) == len(chinese.figures)


@pytest.mark.slow
@pytest.mark.parametrize("stage", BOOK_ORDER)
def test_every_outcome_has_its_words(render, stage):
    """What `OUTCOMES` of a stage's values.py names may come out on some machine."""
    values = importlib.import_module(f"stages.{stage}.page.values")
    for name, outcomes in getattr(values, "OUTCOMES", {}).items():
        for language in ("en", "zh"):
            told = [
                check(stage, language, render(stage, language, **{name: each})).visible
                for each in outcomes
            ]
            assert len(set(told)) > 1, f"{stage}: {name} makes no difference"


DECIDES_NOTHING = {
    "busy": ({"busy_percent": 93.2}, "the machine was busy (93.2 % > 20 %)"),
    "disturbed": ({"disturbed": "slept: 9 s"}, "slept (9 s)"),
    "one core": ({"not_measurable": "needs_cores: 2"}, "needs 2 cores"),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", DECIDES_NOTHING)
@pytest.mark.parametrize("stage", BENCHES)
def test_times_that_decide_nothing_are_not_told(render, stage, how, tmp_path, monkeypatch):
    """A page that rests on times says why in place of its answer; others leave the times out."""
    more, words = DECIDES_NOTHING[how]
    monkeypatch.chdir(tmp_path)
    made_up.write(stage, tmp_path / "reports", "cpu-virtual")
    conditions = tmp_path / "reports" / stage / "conditions.json"
    write_json(conditions, read_json(conditions) | more)
    shutil.copy(COMMITTED / "reports" / "hardware.json", tmp_path / "reports")
    of_times = getattr(importlib.import_module(f"stages.{stage}.page.values"), "OF_TIMES", True)
    english = render(stage, "en")
    if of_times:
        assert words in english.problem
        assert "<figure" not in english.html
        assert re.search(r"\d", render(stage, "zh").problem) or how == "one core"
    elif how != "one core":
        check(stage, "en", english)
        assert words in text_of(english.html).visible + text_of(english.html).folded
