"""The README tells the truth about what can be checked."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lab.claims.book_order import PLACES
from lab.core.params import read_yaml
from lab.report.prose import read_front
from tests.helpers import COMMITTED, ROOT

README = (ROOT / "README.md").read_text()


def test_the_table_has_every_question_once_with_its_title_and_sections():
    rows = re.findall(
        r"^\| \[(.+?)\]\((.+?)\) \| (.+?) \| \[`(\w+)`\]\(stages/(\w+)/\) \|$", README, flags=re.M
    )
    assert [name for *_, name, _ in rows] == list(PLACES)
    for title, page, sections, name, folder in rows:
        assert name == folder
        assert page == f"reports/README.md#{name}"
        assert title == read_front(ROOT / "stages" / name / "page" / "en.md")["title"]
        told = re.findall(r"[\d.]+", sections)
        assert told in ([*PLACES[name].sections], [PLACES[name].sections[i] for i in (0, -1)])


def test_what_was_found_is_what_the_report_found():
    bullets = re.findall(r"(?m)^- \*\*.*$", README.split("## What we found\n")[1].split("\n## ")[0])
    found = (COMMITTED / "reports" / "README.md").read_text()
    assert len(bullets) == 3 and all(bullet in found for bullet in bullets)


@pytest.mark.parametrize("page", ["README.md", "reports/README.md"])
def test_links_lead_to_files(page):
    places = [(root / page).parent for root in (ROOT, COMMITTED)]  # results may be another run's
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        assert "://" in target or any((place / target).exists() for place in places), target


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = [
    version
    for version in (f"3.{minor}" for minor in range(40))
    if f"{version}.0" in SpecifierSet(PROJECT["requires-python"])
]


@pytest.mark.parametrize("python", PYTHONS)
def test_constraints_pin_everything_the_lab_asks_for_within_its_ranges(python):
    lines = (ROOT / "constraints.txt").read_text().splitlines()[1:]
    pinned = {
        canonicalize_name(pin.name): next(iter(pin.specifier)).version
        for pin in map(Requirement, lines)
        if pin.marker is None or pin.marker.evaluate({"python_version": python})
    }
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    assert len(asked) > 15
    for one in map(Requirement, asked):
        assert pinned[canonicalize_name(one.name)] in one.specifier


def test_what_is_promised_of_pythons_and_torch_is_the_same_everywhere():
    oldest, newest = PYTHONS[0], PYTHONS[-1]
    assert f"Python {oldest} to {newest}" in README
    ci = (ROOT / ".ci" / "run").read_text()
    assert re.findall(r"^quick_tests python([\d.]+)", ci, re.MULTILINE) == [oldest, newest]
    workflow = read_yaml(ROOT / ".github" / "workflows" / "check.yml")
    [setup] = [step["with"] for step in workflow["jobs"]["check"]["steps"] if "with" in step]
    assert setup["python-version"].split() == [newest, oldest]
    [torch] = [one for one in map(Requirement, PROJECT["dependencies"]) if one.name == "torch"]
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    [(low, high)] = re.findall(r"torch .*, from (2\.\d+) to 2\.(\d+)", contributing)
    assert torch.specifier == SpecifierSet(f">={low},<2.{int(high) + 1}")
