"""The README tells the truth about what can be checked."""

import re
import tomllib

import pytest

from lab.claims.book_order import PLACES
from lab.report.prose import read_front
from tests.helpers import COMMITTED, ROOT

README = (ROOT / "README.md").read_text()


def test_the_table_has_every_question_once_with_its_title_and_sections():
    rows = re.findall(r"^\| (.+?) \| (.+?) \| \[`(\w+)`\]\(stages/(\w+)/\) \|$", README, flags=re.M)
    assert [name for *_, name, _ in rows] == list(PLACES)
    for title, sections, name, folder in rows:
        assert name == folder
        assert title == read_front(ROOT / "stages" / name / "page" / "en.md")["title"]
        told = re.findall(r"[\d.]+", sections)
        assert told in ([*PLACES[name].sections], [PLACES[name].sections[i] for i in (0, -1)])


def test_what_was_found_is_what_the_report_found():
    found = README.split("## What we found\n")[1].split("\nRead the report")[0].strip()
    assert found in (COMMITTED / "reports" / "README.md").read_text()


@pytest.mark.parametrize("page", ["README.md", "reports/README.md"])
def test_links_lead_to_files(page):
    places = [(root / page).parent for root in (ROOT, COMMITTED)]  # results may be another run's
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        assert "://" in target or any((place / target).exists() for place in places), target


def test_constraints_pin_everything_the_lab_asks_for():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = (project["dependencies"], project["optional-dependencies"]["dev"])
    wanted = [re.split("[><=]", one)[0] for each in lists for one in each]
    assert len(wanted) > 15
    assert {name.lower().replace("_", "-") for name in wanted} <= pinned
