"""The report's web site as the workflow makes it, read as a browser reads it."""

import shlex
import struct
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from lab.core.params import read_yaml
from lab.report import address
from lab.tools.site import SITE
from tests.helpers import COMMITTED, ROOT, files

[WORKFLOW] = read_yaml(ROOT / ".github" / "workflows" / "pages.yml")["jobs"].values()
[COMMAND] = [step["run"] for step in WORKFLOW["steps"] if "run" in step]


def make_site(project: Path) -> subprocess.CompletedProcess[str]:
    """Run the workflow's command where no package is installed."""
    python, *words = shlex.split(COMMAND)
    assert python == "python3"
    command = [sys.executable, "-S", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True)


@pytest.fixture
def project(tmp_path):
    """The project with no report yet."""
    for path in ROOT.glob("[!.]*"):
        if path.name != "reports":
            (tmp_path / path.name).symlink_to(path)
    return tmp_path


class Page(HTMLParser):
    """What a page leads to and shows, and what can be led to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.ids: set[str] = set()
        self.said: dict[str, str] = {}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id", ""))
        self.urls += [given[name] for name in ("href", "xlink:href", "src") if given.get(name)]
        if tag == "meta" and (name := given.get("property")):
            self.said[name] = given["content"]
            self.urls += [given["content"]] if name in ("og:url", "og:image") else []


def test_all_that_the_committed_pages_lead_to_is_on_the_site_or_in_the_source(project):
    (project / "reports").symlink_to(COMMITTED / "reports")
    made = make_site(project)
    assert made.returncode == 0, made.stderr
    site = project / SITE
    assert {step["with"]["path"] for step in WORKFLOW["steps"] if "with" in step} == {str(SITE)}
    names = files(site)
    pages = {name: Page(site / name) for name in names if name.endswith(".html")}
    report, tree = address.report(), address.source("")
    led_to, wrong = {"index.html"}, []
    for page, read in pages.items():
        for url in (urljoin(report + page, each) for each in read.urls):
            file = unquote(urlsplit(url.removeprefix(report)).path) or "index.html"
            fragment = urlsplit(url).fragment
            if url.startswith(report):
                led_to.add(file)
                known = file in names and (file not in pages or fragment in lands_on(pages[file]))
            elif url.startswith(f"{tree}/tree/main/"):
                known = (ROOT / url.removeprefix(f"{tree}/tree/main/")).exists()
            else:  # nothing else of the host that has the site
                known = urlsplit(url).netloc != urlsplit(report).netloc
            if not known:
                wrong.append((page, url))
    assert wrong == []
    moved = {page for page, read in pages.items() if not read.said}
    assert names - led_to <= moved, "only old addresses have no link"
    assert pages["index.html"].urls and "pages/claims.html" in pages


def lands_on(page: Page) -> set[str]:
    """The fragments that mean something to a page: a place in it, or a choice of claims."""
    return page.ids | {"confirmed", "refuted", "depends", "inconclusive", "untested"}


def test_the_picture_of_a_link_has_the_size_that_pages_say():
    page = Page(COMMITTED / "reports" / "index.html").said
    file = page["og:image"].removeprefix(address.report())
    header = (COMMITTED / "reports" / file).read_bytes()[:24]
    assert header[1:4] == b"PNG"
    size = page["og:image:width"], page["og:image:height"]
    assert size == tuple(map(str, struct.unpack(">II", header[16:])))


def test_a_site_has_reports_at_its_root_and_what_is_linked_beside_it(project):
    for name, text in {
        "reports/index.html": '<a href="pages/x.html">',
        "reports/pages/x.html": '<a href="../index.html"><a href="../x/rows.csv#a">'
        '<a href="../../stages/report/start.js">',
        "reports/x/rows.csv": "a,b",
        "reports/x/left.csv": "a,b",
    }.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / SITE).mkdir(parents=True)
    (project / SITE / "old.html").touch()
    assert make_site(project).returncode == 0
    expected = {"index.html", "pages/x.html", "x/rows.csv", "stages/report/start.js"}
    assert files(project / SITE) == expected
    code = (project / SITE / "pages" / "../stages/report/start.js").read_bytes()
    assert code == (ROOT / "stages" / "report" / "start.js").read_bytes()
    assert '"../stages/report/start.js"' in (project / SITE / "pages" / "x.html").read_text()


@pytest.mark.parametrize("target", ["pages/none.html", "../stages/report", "../none.py"])
def test_a_link_that_leads_nowhere_makes_no_site(project, target):
    (project / "reports").mkdir()
    (project / "reports" / "index.html").write_text(f'<a href="{target}">')
    made = make_site(project)
    assert made.returncode == 1
    said = f"ERROR: reports/index.html: leads to {target.removeprefix('../')}, which is no file"
    assert made.stderr.startswith(said) and len(made.stderr.splitlines()) == 1
