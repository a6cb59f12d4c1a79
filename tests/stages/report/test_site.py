"""The committed report and one of made-up results: links work, nothing is too long."""

import functools
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markupsafe import Markup

from lab.claims.book_order import BOOK_ORDER, MOVED
from lab.core.files import read_rows
from lab.core.params import read_yaml
from lab.tools.forecast import check_target
from stages.report.site import ABOUT, INDEX, file_of
from tests.helpers import COMMITTED, ROOT
from tests.stages.report.texts import Text, text_of

pytestmark = pytest.mark.slow

MOST_BYTES = {"claims": 300_000}  # per page; 200,000 for all others
MOST_WORDS = {INDEX: 1150, "errata": 1500}
MOST_SCRIPT = 45_000
OUTSIDE = (
    "https://d2l.ai/",
    "https://zh.d2l.ai/",
    "https://arxiv.org/",
    "https://github.com/d2l-ai/",
)


@pytest.fixture(scope="module", params=["committed", "made up"])
def reports(request) -> Path:
    made = request.param == "made up"
    return request.getfixturevalue("drawn") if made else COMMITTED / "reports"


@functools.cache
def pages(reports: Path) -> dict[str, tuple[Path, Text]]:
    """Return every page of a report by its file name."""
    found = {}
    for page in (INDEX, *ABOUT, *BOOK_ORDER):
        for language in ("en", "zh"):
            path = reports / file_of(page, language)
            found[file_of(page, language)] = path, text_of(path.read_text())
    return found


def test_every_page_exists_and_all_others_redirect_from_old_addresses(reports):
    there = {path.relative_to(reports).as_posix() for path in reports.rglob("*.html")}
    old = {file_of(page, language): page for page in MOVED for language in ("en", "zh")}
    assert there == {*pages(reports), *old}
    for file, page in old.items():
        target = (reports / file.replace(page, MOVED[page])).name
        text = (reports / file).read_text()
        assert f'content="0; url={target}"' in text
        assert f'<a href="{target}">' in text


def test_every_link_and_anchor_works(drawn):
    """test_publish.py follows links to data and code, from the committed report."""
    found = pages(drawn)
    ids = {path.resolve(): set(text.ids) for path, text in found.values()}
    wrong = []
    for name, (path, text) in found.items():
        for link in text.links:
            target = urlsplit(link)
            if target.scheme:
                assert f"{link}/".startswith(OUTSIDE), link
                continue
            page = (path.parent / unquote(target.path)).resolve() if target.path else path.resolve()
            is_page = page in ids and target.fragment in {"", *ids[page], *VERDICTS}
            if page.suffix == ".html" and not is_page:
                wrong.append((name, link))
    assert wrong == []


META = r'<meta (?:name|property)="(.*?)" content="(.*?)">'


def test_a_pages_head_has_its_title_and_its_address_in_each_language(drawn):
    for name, (path, _) in pages(drawn).items():
        html = path.read_text()
        head = re.sub("<!--published (.*?) -->", r"\1", html.split("</head>")[0], flags=re.S)
        said = {key: unescape(told) for key, told in re.findall(META, head)}
        site = "{pages}"
        english = name.replace(".zh.html", ".html")
        urls = {
            "en": site + english.removesuffix("index.html"),
            "zh": site + english.replace(".html", ".zh.html"),
        }
        assert dict(re.findall(r'rel="alternate" hreflang="(\w+)" href="(.*?)"', head)) == urls
        own = urls["zh" if ".zh." in name else "en"]
        assert re.findall(r'rel="canonical" href="(.*?)"', head) == [own], name
        assert said["og:url"] == own
        assert said["og:image"].startswith(site)
        [title] = re.findall("<h1>(.*?)</h1>", html)
        assert said["og:title"] == Markup(title).striptags()
        assert said["description"] == said["og:description"] != "", name


def test_a_questions_description_is_its_finding_on_the_index(drawn):
    for language in ("en", "zh"):
        index = (drawn / file_of(INDEX, language)).read_text()
        for stage in BOOK_ORDER:
            page = (drawn / file_of(stage, language)).read_text()
            finding = re.findall(rf'<li id="{stage}">.*?<br>(.*?) <span class="tally">', index)[0]
            told = dict(re.findall(META, page))["description"]
            assert unescape(told) == Markup(finding).striptags() != "", stage


def test_a_page_ends_with_its_licence_and_how_to_cite_it(drawn):
    [author] = read_yaml(ROOT / "CITATION.cff")["authors"]
    for name, (path, _) in pages(drawn).items():
        foot = path.read_text().split("<footer")[1]
        up = "../" if "/" not in name else "../../"
        licences = re.findall(r'href="(\S*LICENSE.*?)"', foot)
        assert licences == [f"{up}LICENSE-TEXT.md", f"{up}LICENSE"]
        assert f'author = "{{{author["name"]}}}"' in foot
        url = f"{{pages}}{name.removesuffix('index.html')}"
        assert f'<!--published   url = "{url}"\n -->}}' in foot


def test_the_summary_has_a_row_and_an_anchor_for_every_question(reports):
    text = (reports / "README.md").read_text()
    _, *rows = re.findall(r"^\| (.+) \|$", text, re.MULTILINE)
    cells = [re.split(r"(?<!\\) ?\| ", row) for row in rows]
    assert [row[1].partition("](#")[2] for row in cells] == [f"{stage})" for stage in BOOK_ORDER]
    assert all(len(row) == 4 and all(row) for row in cells)
    assert sorted(re.findall(r'<a id="(\w+)"></a>', text)) == sorted(BOOK_ORDER)
    figures = re.findall(r"^!\[.+\]\((figures/\S+)\)$", text, re.MULTILINE)
    assert len(figures) == len(BOOK_ORDER) and all((reports / each).is_file() for each in figures)


VERDICTS = (
    "confirmed",
    "refuted",
    "depends",
    "inconclusive",
    "untested",
)  # anchors that filter the claims


def test_each_page_is_well_formed_small_and_runs_only_its_own_script(reports):
    for name, (path, text) in pages(reports).items():
        html = path.read_text()
        page = Path(name).name.split(".")[0]
        assert text.problems == [], name
        assert len(set(text.ids)) == len(text.ids), name
        assert len(html.encode()) <= MOST_BYTES.get(page, 200_000), name
        assert len("".join(re.findall(r"(?s)<script>(.*?)</script>", html))) <= MOST_SCRIPT, name
        assert "default-src 'none'" in html, name
        assert re.search(r"script-src 'sha256-[^']+'\"", html), name
        assert not re.search(r'src="http|<script src|url\(http|unsafe-eval', html), name
        for link in re.findall(r"<link.*?>", html):  # metadata, or data within the page itself
            assert re.search(r'rel="(canonical|alternate|icon" href="data:)', link), name
        if name.endswith(f"{page}.html"):
            assert text.words <= MOST_WORDS.get(page, 10_000), f"{name}: {text.words} words"


@pytest.mark.parametrize("page", [INDEX, *ABOUT])
def test_both_languages_show_the_same_numbers(reports, page):
    english, chinese = (pages(reports)[file_of(page, each)][1].numbers for each in ("en", "zh"))
    only = {n for n in english ^ chinese if not n.isdigit() or int(n) > 13}
    # the editions number sections differently
    assert {n for n in only if not re.fullmatch(r"1[123]\.\d+", n)} == set()


def test_pages_name_only_stages_that_exist(reports):
    runs = read_yaml(ROOT / "params.yaml")["train"]["runs"]
    stages = [*read_yaml(ROOT / "dvc.yaml")["stages"], *(f"train@{run}" for run in runs)]
    named = set()
    for path, _ in pages(reports).values():
        found = re.findall(
            r"invoke repro --stage ([\w@]+) &amp;&amp; invoke compare --stage ([\w@]+)</code>",
            path.read_text(),
        )
        for stage, same in found:
            assert stage == same
            check_target(stage, stages)
            named.add(stage.split("@")[0])
    assert named >= {"bench_async", "convergence", "train"}


def test_the_index_counts_the_claims_that_need_gpus(reports):
    rows = read_rows(reports / "claims" / "rows.csv")
    waiting = [
        row["id"]
        for row in rows
        if row["kind"] != "ours" and re.match("unmet: .*gpu", str(row["reason"]))
    ]
    index = (reports / file_of(INDEX, "en")).read_text()
    assert f"{len(waiting)} of these because they need GPUs" in index
