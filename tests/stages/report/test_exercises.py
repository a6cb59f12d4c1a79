"""The page of exercises: every box of every page, with the time that its command takes."""

import functools
import re

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.report.language import CHINESE, ENGLISH, locale
from lab.results.derived import taken_under
from stages.report.exercises_page import takes
from stages.report.site import file_of
from tests.helpers import COMMITTED
from tests.stages.report.test_browser import opened

SECONDS = {"quick": {"a": 60.0}, "twice": {"a": 61.0, "b": 30.0}, "train@long": {"a": 1000.0}}

SEEN = "all => all.filter(each => each.checkVisibility()).length"


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ("<code>invoke repro --stage quick</code>", "under a minute"),
        ("<code>invoke repro --stage twice</code>", "about 2 minutes"),
        ("<code>invoke repro --stage train@long</code>", "about 17 minutes"),
        ("<pre>$ dvc exp run -S train.runs.long.lr=1 train@long</pre>", "about 17 minutes"),
        ("<code>invoke repro --stage new</code>", ""),
        ("<p>Move the slider.</p>", "explorable only"),
    ],
)
def test_a_box_shows_the_time_of_the_command_in_it(box, words):
    with locale(ENGLISH):
        assert takes(box, SECONDS) == words


NO_COMMAND = {"scaling"}  # its explorable has the answer
TAKEN = functools.cache(lambda: taken_under(COMMITTED / "reports"))
COMPARED = re.compile(r"invoke compare --stage ([\w@]+)(.*)")


@pytest.mark.parametrize("stage", BOOK_ORDER)
def test_a_box_names_findings_that_compare_prints(render, stage):
    boxes = [render(stage, each).prose.parts["predict"].html for each in (ENGLISH, CHINESE)]
    english, chinese = (
        [(name, re.findall(r"\w+_\w+|\w+(?=</code>)", words)) for name, words in found]
        for found in map(COMPARED.findall, boxes)
    )
    assert english == chinese
    assert bool(english) == (stage not in NO_COMMAND)
    for name, findings in english:
        known = TAKEN()[name.replace("@", "/")].findings
        assert findings and all(known[each] for each in findings)


@pytest.mark.slow
@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_every_box_is_the_same_as_on_its_own_page(drawn, language):
    page = (drawn / file_of("exercises", language)).read_text()
    boxes = dict(re.findall(r'(?s)exercise" id="(\w+)">(.*?)</section>', page))
    assert set(boxes) == set(BOOK_ORDER)
    for stage, box in boxes.items():
        own = (drawn / file_of(stage, language)).read_text()
        found = re.search(r'(?s)<h2 id="predict">.*?</h2>(.*?)</section>', own)
        assert found[1].strip() in box


@pytest.mark.slow
def test_only_open_answers_are_printed(browser, drawn):
    with opened(browser, drawn / file_of("exercises", ENGLISH)) as page:
        shown = page.locator(".exercise details > p")
        page.emulate_media(media="print")
        assert shown.evaluate_all(SEEN) == 0
        assert page.locator(".answers").is_hidden()
        page.emulate_media(media="screen")
        page.locator(".answers").click()
        page.emulate_media(media="print")
        assert shown.evaluate_all(SEEN) == shown.count() >= len(BOOK_ORDER)
