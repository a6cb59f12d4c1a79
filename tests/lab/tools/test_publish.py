"""The report's website as the workflow makes it, read as a browser reads it."""

import re
import shlex
import struct
import subprocess
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from lab.core.params import read_yaml
from lab.tools.publish import SITE
from tests.helpers import COMMITTED, ROOT, files, python

[WORKFLOW] = read_yaml(ROOT / ".github" / "workflows" / "pages.yml")["jobs"].values()
[COMMAND] = [step["run"] for step in WORKFLOW["steps"] if "run" in step]
PAGES, COMMIT = "https://x.example/y/", "0123456789" * 4
FOUND = {  # values that the workflow fills in
    "steps.pages.outputs.base_url": PAGES.rstrip("/"),
    "github.repository": "o/n",
    "github.sha": COMMIT,
}
OTHERS = re.compile(  # other hosts that a page links to, and data in its images
    r"https?://(zh\.d2l\.ai|d2l\.ai|arxiv\.org|github\.com/d2l-ai|www\.w3\.org"
    r"|colab\.research\.google\.com|kaggle\.com)\b|data:"
)
OPTIONS = ("--pages", PAGES, "--source", "https://code.example/o/n", "--commit", COMMIT)


def make_site(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Make the site with a Python that has no packages."""
    return python("-S", "-m", "lab.tools.publish", *words, cwd=project)


def publish(project: Path, server: str) -> Path:
    """Run the workflow's command as on that server, and return the site."""
    found = FOUND | {"github.server_url": server}
    command = re.sub(r"\$\{\{ (.*?) \}\}", lambda each: found[each[1]], COMMAND)
    python, _, module, *options = shlex.split(command)
    assert (python, module) == ("python3", "lab.tools.publish")
    made = make_site(project, *options)
    assert made.returncode == 0, made.stderr
    return project / SITE


@pytest.fixture
def project(tmp_path):
    """The project with no report yet."""
    for path in ROOT.glob("[!.]*"):
        if path.name != "reports":
            (tmp_path / path.name).symlink_to(path)
    return tmp_path


@pytest.fixture
def committed(project):
    """The project with the committed report."""
    (project / "reports").symlink_to(COMMITTED / "reports")
    return project


class Page(HTMLParser):
    """The links, ids and metadata of a page.

    Attributes:
        urls: targets of links, and other absolute addresses in the text.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.ids: set[str] = set()
        self.said: dict[str, str] = {}
        text = path.read_text()
        self.feed(text)
        self.urls += re.findall(r"https?://[^\s\"'<>{}]+", unescape(text))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id", ""))
        self.urls += [given[name] for name in ("href", "xlink:href", "src") if given.get(name)]
        if tag == "meta" and (name := given.get("property")):
            self.said[name] = given["content"]


def pages_of(site: Path) -> dict[str, Page]:
    return {path: Page(site / path) for path in files(site) if path.endswith(".html")}


def astray(site: Path, root: str, source: str) -> list[tuple[str, str]]:
    """Return each (page, url) that leads nowhere in the site or source, or to an unknown host."""
    pages, names, wrong = pages_of(site), files(site), []
    for page, read in pages.items():
        for url in (urljoin(root + page, each) for each in read.urls):
            if url.startswith(root):
                file = unquote(urlsplit(url.removeprefix(root)).path) or "index.html"
                fragment = urlsplit(url).fragment
                known = file in names and (file not in pages or fragment in lands_on(pages[file]))
            elif url.startswith(source):
                known = is_in_the_source(url.removeprefix(source))
            else:
                known = OTHERS.match(url) is not None
            if not known:
                wrong.append((page, url))
    return wrong


def is_in_the_source(path: str) -> bool:
    """Return whether a code host has this path: the repository, a file of the commit, a form."""
    if form := re.fullmatch(r"/issues/new\?template=(.+)", path):
        return (ROOT / ".github" / "ISSUE_TEMPLATE" / form[1]).is_file()
    found = re.fullmatch(rf"(?:/(?:tree|blob)/{COMMIT}(?:/(.+))?)?", path)
    return found is not None and (ROOT / (found[1] or "")).exists()


def lands_on(page: Page) -> set[str]:
    """Return the fragments that a page understands: its ids, and the filters of claims."""
    return page.ids | {"confirmed", "refuted", "depends", "inconclusive", "untested"}


@pytest.mark.parametrize("server", ["https://github.com", "https://code.example"])
def test_a_published_site_names_only_its_own_address_and_source(committed, server):
    """On GitHub, its notebook also opens in Colab and Kaggle."""
    site, source = publish(committed, server), f"{server}/o/n"
    assert {step["with"]["path"] for step in WORKFLOW["steps"] if "with" in step} == {str(SITE)}
    assert astray(site, PAGES, source) == []
    notebook = f"blob/{COMMIT}/notebooks/record.ipynb"
    opened = {
        f"https://colab.research.google.com/github/o/n/{notebook}",
        f"https://kaggle.com/kernels/welcome?src={source}/{notebook}",
    }
    pages = pages_of(site)
    for name, page in pages.items():
        if page.said:  # otherwise it is an old address that redirects
            assert page.said["og:url"] == PAGES + name.removesuffix("index.html")
            assert f"{source}/tree/{COMMIT}" in page.urls
        there = {url for url in page.urls if re.search(r"\b(colab|kaggle)\.", url)}
        on_github = server == "https://github.com" and "machines" in name
        assert there == (opened if on_github else set()), name
    for name in ("index.html", "index.zh.html"):
        assert source in pages[name].urls, "to be cloned"
        assert f"cd n && git checkout {COMMIT}" in unescape((site / name).read_text())
    for name in ("pages/machines.html", "pages/machines.zh.html"):
        assert f"{source}/issues/new?template=machine.yml" in pages[name].urls
    notebooks = {name for name in files(site) if name.startswith("notebooks/")}
    assert notebooks == {"notebooks/record.ipynb", "notebooks/rows.ipynb"}
    for name in notebooks:
        text = (site / name).read_text()
        assert rf"SOURCE = \"{source}\"" in text
        assert rf"COMMIT = \"{COMMIT}\"" in text


def test_a_site_without_addresses_has_no_placeholders_and_no_broken_links(committed):
    assert make_site(committed).returncode == 0
    site = committed / SITE
    assert astray(site, "https://x.invalid/", "https://code.invalid/") == []
    pages = pages_of(site)
    for name in pages:
        assert not re.search("<!--|[{](pages|source|commit)[}]", (site / name).read_text())
    led_to = {
        unquote(urlsplit(urljoin(name, url)).path)
        for name, page in pages.items()
        for url in page.urls
    }
    old = {name for name, page in pages.items() if not page.said}
    assert files(site) - led_to <= {"index.html", *old}, "nothing else is on it"


def test_the_preview_image_has_the_size_that_pages_state(committed):
    page = pages_of(publish(committed, "https://code.example"))["index.html"].said
    file = page["og:image"].removeprefix(PAGES)
    header = (COMMITTED / "reports" / file).read_bytes()[:24]
    assert header[1:4] == b"PNG"
    size = page["og:image:width"], page["og:image:height"]
    assert size == tuple(map(str, struct.unpack(">II", header[16:])))


def test_a_site_has_reports_at_its_root_and_linked_files_next_to_them(project):
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
    assert made.returncode == 3
    said = f"ERROR: reports/index.html: leads to {target.removeprefix('../')}, which is no file"
    assert made.stderr.startswith(said) and len(made.stderr.splitlines()) == 1


def test_addresses_are_escaped_in_html(project):
    (project / "reports").mkdir()
    page = '<!--published <a href="{source}">\n{repository} {name}</a> -->'
    (project / "reports" / "index.html").write_text(page)
    options = ("--pages", "https://x.example", "--source", "http://code.example/a&b/n.git/")
    assert make_site(project, *options, "--commit", COMMIT).returncode == 0
    shown = '<a href="http://code.example/a&amp;b/n">\na&amp;b/n n</a>'
    assert (project / SITE / "index.html").read_text() == shown


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--pages", "javascript:alert(1)//https://x.example"),
        ("--source", 'https://code.example/"><script>'),
        ("--commit", "main"),
    ],
)
def test_an_invalid_address_or_commit_is_refused(project, option, value):
    i = OPTIONS.index(option)
    made = make_site(project, *OPTIONS[: i + 1], value, *OPTIONS[i + 2 :])
    assert made.returncode == 2
    assert made.stderr.startswith(f"ERROR: {option} {value}: expected")
    assert len(made.stderr.splitlines()) == 1
    assert make_site(project, *OPTIONS[:4]).returncode == 2, "they are given together"
