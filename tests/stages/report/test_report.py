"""The stage `report`: what it reads, derives and writes, and how it ends."""

import re
import shutil
from collections import Counter

import pytest

from lab.claims.book_order import BOOK_ORDER
from lab.core.errors import DataError
from lab.core.files import write_json
from lab.core.params import PARAMS_FILE, read_yaml
from lab.report.figures import PAPER
from lab.results.derived import taken_under
from lab.tools.profiles import merge
from lab.tools.references import stage_of
from stages.bench_input.measure.names import RESIDENT
from stages.report.site import ABOUT, INDEX, file_of
from tests.helpers import edit_params, errors, files, hardware, run_stage, small_run
from tests.stages.report.conftest import report_without_torch, write_runs

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)"


def test_the_report_repeats_byte_for_byte_and_needs_no_torch(drawn, project):
    first = {name: (drawn / name).read_bytes() for name in files(drawn)}
    pages = {file_of(page, each) for page in (INDEX, *ABOUT, *BOOK_ORDER) for each in ("en", "zh")}
    figures = {"figures/together.svg", "figures/together-dark.svg", "figures/card.png"}
    assert {*pages, "README.md", *figures} <= set(first)
    report_without_torch(project, hash_seed="2")
    reports = project / "reports"
    assert files(reports) == set(first)
    assert [name for name in first if (reports / name).read_bytes() != first[name]] == []
    for page in pages:
        assert not re.search("<strong>(Synthetic data|合成数据)", first[page].decode())


def test_the_first_figures_dark_version_has_the_same_texts_in_different_colours(drawn):
    light, dark = (
        (drawn / "figures" / f"together{theme}.svg").read_text() for theme in ("", "-dark")
    )
    texts, colours = ">([^<>]*)</text>", "#[0-9a-f]{6}"
    assert re.findall(texts, light) == re.findall(texts, dark) != []
    assert set(re.findall(colours, light)) & set(re.findall(colours, dark)) <= {PAPER}


def test_synthetic_data_are_labelled_and_hostile_or_damaged_files_spoil_no_other_page(project):
    reports = project / "reports"
    look_alikes = {"dataset": "synthetic", "airfoil": "synthetic"}
    write_json(reports / "fetch" / "conditions.json", look_alikes)
    write_runs(project, "synthetic")
    edit_params({"train.runs": {**read_yaml(PARAMS_FILE)["train"]["runs"], EVIL: small_run()}})
    shutil.copytree(reports / "train" / "lenet_1gpu", reports / "train" / EVIL)
    taken = taken_under(reports)
    rows = (reports / "bench_input" / "rows.csv").read_text()
    assert RESIDENT in rows
    (reports / "bench_input" / "rows.csv").write_text(rows.replace(RESIDENT, EVIL))
    (reports / "bench_async" / "conditions.json").write_text('{"a": 1}')
    (reports / "schedules" / "conditions.json").write_text("")
    (reports / "convergence" / "rows.csv").write_text("demo,series\n" + EVIL)
    text = (reports / "bench_parallel" / "conditions.json").read_text()
    (reports / "bench_parallel" / "conditions.json").write_text(
        re.sub('"starts": .*?,', '"starts": NaN,', text)
    )
    (reports / "scaling" / "rows.csv").unlink()
    write_json(
        reports / "reference" / "other.json",
        {
            "name": EVIL,
            "profile": "full",
            "hardware": hardware(EVIL, gpus=["H9000"]),
            "stages": {"bench_overlap": stage_of(taken["bench_overlap"])},
        },
    )
    result = run_stage("stages.report")
    assert result.returncode == DataError.exit_code, result.stderr
    failed = ("bench_async", "schedules", "convergence", "bench_input", "bench_parallel")
    assert {line.split(":")[1].split()[-1] for line in errors(result)} == set(failed)
    pages = {path.name: path.read_text() for path in reports.rglob("*.html")}
    for name, html in pages.items():
        assert EVIL not in html, name
    for name in ("machines.html", "machines.zh.html"):
        assert "&lt;script&gt;alert(1)" in pages[name], name
    for stage in (*failed, "scaling"):  # scaling has no results yet
        for name in (f"{stage}.html", f"{stage}.zh.html"):
            assert re.search(f'class="banner".*reports/{stage}', pages[name]), name
    summary = (reports / "README.md").read_text()
    assert EVIL not in summary
    assert re.search(r"(?m)^\| not measured \| .*\(#scaling\) \| .*reports/scaling", summary)
    for words in ("KeyError", "ValueError"):
        assert words not in pages["index.html"]
    assert "<figure" in pages["bench_hardware.html"], "what is whole is shown"
    for page, words in (
        ("index.html", "<strong>Synthetic data"),
        ("index.zh.html", "<strong>合成数据"),
        ("claims.html", "synthetic look-alike"),
    ):
        assert words in pages[page]


def test_a_run_without_results_is_reported(project):
    (project / "reports" / "train" / "lenet_2gpu" / "rows.csv").unlink()
    result = run_stage("stages.report", "train")
    assert result.returncode == 0, result.stderr
    for page, words in (("train.html", "Not trained yet: "), ("train.zh.html", "还没有训练：")):
        text = (project / "reports" / "pages" / page).read_text()
        assert f"{words}lenet_2gpu" in text
        assert "lenet_1gpu" in text, "the others are shown"
    result = run_stage("stages.report", "bench_asink")
    assert result.returncode == 2
    assert "bench_asink: no page; take some of" in errors(result)[0]


def test_results_of_little_data_are_labelled_and_make_no_headline(project, drawn):
    reports = project / "reports"
    before = {language: (drawn / file_of(INDEX, language)).read_text() for language in ("en", "zh")}
    summary = (drawn / "README.md").read_text()
    (project / PARAMS_FILE).write_text(merge("smoke", project / "profiles", project / PARAMS_FILE))
    result = run_stage("stages.report")
    assert result.returncode == 0, result.stderr
    for language, index in before.items():
        smoke = (reports / file_of(INDEX, language)).read_text()
        assert 'class="card"' in index and 'class="hero' in index and 'class="squares"' in index
        assert not re.search('class="(card|hero|squares)', smoke)
        assert [text.count('class="banner"') for text in (index, smoke)] == [0, 1]
        for stage in BOOK_ORDER:
            page = (reports / file_of(stage, language)).read_text()
            assert page.count('class="banner"') == 1 and '<article class="doubtful">' in page, stage
    bullets = r"(?m)^- \*\*"
    assert re.search(bullets, summary) and "smoke" not in summary
    labelled = (reports / "README.md").read_text()
    assert not re.search(bullets, labelled) and "> Smoke run." in labelled


def test_the_rows_of_the_index_add_up_to_its_total(drawn):
    """Both count the notes' statements; each row shows our own questions separately."""
    rows, total = (drawn / "index.html").read_text().split('<ul class="squares">')
    in_rows: Counter[str] = Counter()
    for verdict, n in re.findall(r'<span class="(\w+)" title="(\d+) ', rows):
        in_rows[verdict] += int(n)
    in_sum = re.findall(r'<a class="(\w+)" href="[^"]*"><strong>(\d+)</strong>', total)
    assert in_rows == {verdict: int(n) for verdict, n in in_sum} != {}
