"""Checkable facts in the README, the pinned versions, and the project's addresses."""

import re
import subprocess
import tomllib

import pytest
from packaging.markers import Marker
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


def test_the_readmes_findings_are_the_reports():
    bullets = re.findall(r"(?m)^- \*\*.*$", README.split("## What we found\n")[1].split("\n## ")[0])
    found = (COMMITTED / "reports" / "README.md").read_text()
    assert len(bullets) == 3 and all(bullet in found for bullet in bullets)


@pytest.mark.parametrize("page", ["README.md", "reports/README.md"])
def test_links_lead_to_files(page):
    places = [(root / page).parent for root in (ROOT, COMMITTED)]  # results may be a user's own
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        assert "://" in target or any((place / target).exists() for place in places), target


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = [
    version
    for version in (f"3.{minor}" for minor in range(40))
    if f"{version}.0" in SpecifierSet(PROJECT["requires-python"])
]


PINS = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines()[1:]]
LOCKED = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
ALL = "python_version > '3'"  # the marker of packages locked for every Python


@pytest.mark.parametrize("python", PYTHONS)
def test_constraints_pin_every_dependency_and_the_lock_has_these_versions(python):
    here = {"python_version": python, "python_full_version": f"{python}.0"}
    pins = {
        canonicalize_name(pin.name): next(iter(pin.specifier)).version
        for pin in PINS
        if pin.marker is None or pin.marker.evaluate(here)
    }
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    assert len(asked) > 15 and len(pins) > 100
    for one in map(Requirement, asked):
        assert pins[canonicalize_name(one.name)] in one.specifier
    locked = {
        package["name"]: package["version"]
        for package in LOCKED
        if any(Marker(each).evaluate(here) for each in package.get("resolution-markers", [ALL]))
    }
    other = [f"-P {name}=={pin}" for name, pin in pins.items() if locked.get(name) != pin]
    assert not other, f"`uv lock {' '.join(other)}`"


def test_all_locked_files_come_from_pypi_with_hashes():
    for package in LOCKED:
        if package["name"] == "d2l-lab":
            continue
        assert package["source"] == {"registry": "https://pypi.org/simple"}
        for file in [*package.get("wheels", []), *filter(None, [package.get("sdist")])]:
            assert file["url"].startswith("https://files.pythonhosted.org/packages/")
            assert file["hash"].startswith("sha256:")


def test_supported_versions_of_python_and_torch_are_the_same_everywhere():
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


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git knows the files")
def test_no_file_has_an_address_of_the_project():
    pattern = (
        r"github(\.com)?/[[:alnum:]_.-]+/d2l-lab|[[:alnum:]-]+[.]github[.]io|d2l-lab[/]d2l-lab"
    )
    found = subprocess.run(
        ["git", "grep", "-IoE", pattern], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 1, found.stdout


def test_the_citation_and_the_licence_name_the_same_author():
    [author] = read_yaml(ROOT / "CITATION.cff")["authors"]
    assert author["name"].lower() in (ROOT / "LICENSE").read_text()
