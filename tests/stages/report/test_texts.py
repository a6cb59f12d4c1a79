"""Each question's page as text: both languages say the same, every outcome has its own words.

`pytest tests/stages/report/test_texts.py -k NAME` checks the page of one stage.
"""

import importlib
import re
import shutil

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.core.files import read_json, write_json
from lab.report.prose import fill_in
from lab.results.findings import Finding, Over, exact, missing
from lab.results.reasons import Reason
from tests import made_up
from tests.helpers import COMMITTED
from tests.made_up import BENCHES
from tests.stages.report.texts import check, check_whole, text_of

UNKNOWN = missing(Reason("skipped"))


@pytest.mark.parametrize("stage", BOOK_ORDER)
def test_both_languages_show_the_same_numbers(render, stage):
    english, chinese = (check(stage, lang, render(stage, lang)) for lang in ("en", "zh"))
    only = {n for n in english.numbers ^ chinese.numbers if not n.isdigit() or int(n) > 12}
    assert only == set()  # small counts may be words in one of them
    assert len(english.figures) == len(chinese.figures)


OUTCOMES = {  # possible values of the names by which a page branches
    ("scaling", "predicts"): (False, True),
    ("bench_hardware", "between"): (0, 2),
    ("bench_training", "lenet_graph_speedup"): (UNKNOWN, exact(3.0)),
    ("bench_training", "wider_threads"): (UNKNOWN, exact(1.5)),
    ("convergence", "dataset"): ("fashion-mnist", "synthetic"),
    ("landscapes", "airfoil"): ("original", "synthetic"),
    ("optimizers", "airfoil"): ("original", "synthetic"),
    ("own_network", "gains"): (False, True),
    ("own_network", "pays_after"): (UNKNOWN, exact(1000.0)),
    ("own_network", "changed"): ("", "bfloat16"),
    ("replicas", "identical"): (True, False),
    ("schedules", "dataset"): ("fashion-mnist", "synthetic"),
    ("schedules", "resnet18_warm_up_gain"): (UNKNOWN, Finding(1.5, 1.2, 1.9, 8, Over.SEEDS)),
    ("together", "speedup"): (None, exact(3.0)),
    ("together", "missed"): (False, True),
    ("together", "split_from"): (None, 4.0),
    ("together", "records"): ({}, {90: exact(5.0)}),
    ("train", "same"): (None, ...),  # ...: the committed results' value
    ("train", "from_book"): (None, ...),
    ("train", "pairs"): ([], ...),
}


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "name"), OUTCOMES)
def test_every_outcome_has_its_own_words(render, stage, name):
    for language in ("en", "zh"):
        told = []
        for outcome in OUTCOMES[stage, name]:
            changed = {} if outcome is ... else {name: outcome}
            text = check(stage, language, render(stage, language, **changed))
            told.append(text.visible + text.folded)
        assert len(set(told)) > 1


DECIDES_NOTHING = {
    "busy": ({"busy_percent": 93.2}, "the machine was busy (93.2 % > 20 %)"),
    "disturbed": ({"disturbed": "slept: 9 s"}, "slept (9 s)"),
    "one core": ({"not_measurable": "needs_cores: 2"}, "needs 2 cores"),
}


VERDICTS = re.compile(r'(?s)<details id="verdicts">.*?</details>')  # disturbed ones have no number
DOUBTFUL = re.compile(r'<span class="doubtful">(.*?)</span>')


@pytest.mark.slow
@pytest.mark.parametrize("how", DECIDES_NOTHING)
@pytest.mark.parametrize("stage", BENCHES)
def test_times_that_decide_nothing_are_grey_and_the_rest_stays(
    render, stage, how, tmp_path, monkeypatch
):
    more, words = DECIDES_NOTHING[how]
    monkeypatch.chdir(tmp_path)
    made_up.write(stage, tmp_path / "reports", "cpu-virtual")
    shutil.copy(COMMITTED / "reports" / "hardware.json", tmp_path / "reports")
    shutil.copy(COMMITTED / "params.yaml", tmp_path)
    quiet = {language: render(stage, language) for language in ("en", "zh")}
    conditions = tmp_path / "reports" / stage / "conditions.json"
    write_json(conditions, read_json(conditions) | more)
    of_times = getattr(importlib.import_module(f"stages.{stage}.findings"), "OF_TIMES", True)
    for language, page in quiet.items():
        noisy = render(stage, language)
        text, before = check_whole(stage, language, noisy), text_of(page.html)
        assert (text.ids, text.code) == (before.ids, before.code), "no part is lost"
        assert DOUBTFUL.findall(page.html) == []
        assert bool(noisy.doubt) == bool(DOUBTFUL.findall(noisy.html)) == of_times
        if of_times:
            assert noisy.values == {}, "no other page tells them"
            told, was = (text_of(VERDICTS.sub("", each.html)) for each in (noisy, page))
            assert told.numbers >= was.numbers - {"0"}
            answer = DOUBTFUL.sub("", noisy.html.split('<div class="answer">')[1].split("</p>")[0])
            assert not re.search(r"\d[×%]|\d+ ?(ms|s)\b", answer), "each number of it is grey"
    if of_times or how != "one core":
        english = text_of(render(stage, "en").html)
        assert words in english.visible + english.folded


@pytest.mark.slow
def test_a_ratio_of_disturbed_times_is_called_neither_faster_nor_slower(tmp_path):
    text = tmp_path / "en.md"
    text.write_text("---\na: b\n---\n{{ x | which('faster', 'undecided', 'slower') }} {{ x }}")
    twice = {"x": Finding(2.0, 1.9, 2.1, 8, Over.STARTS)}
    assert "<p>faster 2.0</p>" in fill_in(text, twice, headings=False).parts["answer"].html
    told = fill_in(text, twice, headings=False, doubtful=True).parts["answer"].html
    assert DOUBTFUL.findall(told) == ["undecided", "2.0"]
