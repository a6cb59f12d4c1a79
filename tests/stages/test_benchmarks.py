"""What holds of every benchmark: its rows, its metrics, and its page for each kind of machine."""

import importlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.core.files import read_json, read_rows, write_metrics
from lab.core.params import read_yaml
from lab.report import benchmarks
from lab.report.language import speaking
from lab.report.page import Section
from stages.report import catalogue
from tests.helpers import ROOT, draw
from tests.made_up import BENCHES, STARTS

KINDS = ("cpu-virtual", "cuda")
CONDITIONS = {
    "device_kind",
    "num_devices",
    "threads_per_device",
    "starts",
    "busy_percent",
    "product_gflops_before",
    "product_gflops_after",
    "copy_gbs_before",
    "copy_gbs_after",
    "noisy_percent",
    "skipped",
    "controls",
    "false_speedups",
    "control_starts",
    "control_over",
    "control_under",
}


def sections(reports: Path) -> Iterator[tuple[str, str, Section]]:
    """Every benchmark's part of the page, with its stage and the kind of machine."""
    for kind in KINDS:
        for stage in BENCHES:
            module = importlib.import_module(f"stages.{stage}.page.section")
            yield stage, kind, module.section(reports / kind / stage)


def test_benchmarks_are_the_stages_that_compare_arms():
    """Each has `starts`: those of `bench`, or its own."""
    pipeline = read_yaml(ROOT / "dvc.yaml")["stages"]
    params = read_yaml(ROOT / "params.yaml")
    assert {stage for stage in pipeline if stage.startswith("bench_")} <= set(BENCHES)
    for stage in BENCHES:
        assert "bench" in pipeline[stage]["params"] or "starts" in params[stage], stage


def test_every_row_says_what_it_was_measured_on(made_up_reports):
    for stage in BENCHES:
        for row in read_rows(made_up_reports / "cpu-virtual" / stage / "rows.csv"):
            assert row["device_kind"] in ("cpu-virtual", "cpu", "simulated"), (stage, row)
            skipped = str(row["remark"]).startswith("skipped: ")
            assert (row["value"] == "") == skipped, (stage, row)


def test_metrics_have_names_that_dvc_keeps_and_a_noise_control(made_up_reports):
    for kind in KINDS:
        for stage in BENCHES:
            found = read_json(made_up_reports / kind / stage / "metrics.json")
            assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in found), (stage, list(found))
            assert set(found) >= CONDITIONS, stage
            assert found["device_kind"] == kind, stage
            assert found["controls"] >= 1, stage
            assert found["false_speedups"] == 0, stage
            assert found["control_starts"] == STARTS * found["controls"], stage


@pytest.fixture(scope="module")
def figures(made_up_reports, tmp_path_factory) -> Path:
    """The figures of all of them, in <kind of device>/<stage>/."""
    folder = tmp_path_factory.mktemp("figures")
    for stage, kind, part in sections(made_up_reports):
        draw(part, folder / kind / stage)
    return folder


@pytest.mark.slow
def test_the_page_of_each_kind_of_machine(made_up_reports, figures):
    for stage, kind, part in sections(made_up_reports):
        assert part.stage == stage
        drawn = {path.stem for path in (figures / kind / stage).iterdir()}
        assert drawn == {Path(f).stem for figure in part.figures for f in figure.files}, stage
        text = " ".join([part.answer, *part.findings])
        assert not re.search(r"\bnan\b|None", text), (stage, kind, text)
        says_virtual = "virtual" in text
        assert says_virtual == (kind == "cpu-virtual"), f"{stage}: {text}"
        for table in part.tables:
            assert all(len(row) == len(table.header) for row in table.rows), (stage, table.header)


def test_what_virtual_devices_measured_is_hatched_and_nothing_on_a_gpu(figures):
    """As bars, or by a swatch under lines and dots: in every stage that measures on devices."""
    hatched = {
        path.relative_to(figures).parts[:2]
        for path in figures.rglob("*.svg")
        if "<pattern" in path.read_text()
    }
    assert {kind for kind, _ in hatched} == {"cpu-virtual"}
    on_one_processor = {"bench_hardware"}  # which has no devices to share out
    assert {stage for _, stage in hatched} >= set(BENCHES) - on_one_processor


KEPT_FROM_TELLING = {
    "busy": ({"busy_percent": 93.2}, "busy (93.2 % > 20 %)"),
    "disturbed": ({"disturbed": "the machine slept (9 s)"}, "slept (9 s)"),
    "one core": ({"not_measurable": "needs 2 cores"}, "needs 2 cores"),
}


@pytest.mark.parametrize("how", KEPT_FROM_TELLING)
def test_a_section_on_times_that_decide_nothing_is_one_sentence(made_up_reports, how):
    more, words = KEPT_FROM_TELLING[how]
    chinese = catalogue.read("zh")
    for stage, kind, part in sections(made_up_reports):
        m = read_json(made_up_reports / kind / stage / "metrics.json")
        assert benchmarks.without_times(part, m) == part, "where nothing happened"
        found = benchmarks.without_times(part, {**m, **more})
        assert words in found.answer, stage
        assert len(found.answer.split()) <= 25
        said = (found.stage, found.title, found.book, found.question)
        assert found == Section(*said, found.answer, findings=[], figures=[]), stage
        with speaking("zh", chinese):
            in_chinese = benchmarks.without_times(part, {**m, **more}).answer
        known = {"invoke", "remeasure", "stage", *stage.split("_")}
        assert set(re.findall("[A-Za-z]{2,}", in_chinese)) <= known, in_chinese
        assert re.findall(r"\d+", in_chinese) == re.findall(r"\d+", found.answer)


@pytest.mark.parametrize("stage", ["optimizers", "parallelism"])
def test_a_section_on_counts_leaves_out_its_times_alone(stage, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    committed = ROOT / "reports" / stage
    shutil.copytree(committed, tmp_path / stage)
    metrics = read_json(committed / "metrics.json")
    write_metrics(tmp_path / stage, {**metrics, "busy_percent": 93.2})
    module = importlib.import_module(f"stages.{stage}.page.section")
    quiet, busy = module.section(committed), module.section(tmp_path / stage)
    assert benchmarks.without_times(busy, {**metrics, "busy_percent": 93.2}) == busy
    assert busy.answer == quiet.answer
    assert [f.name for f in busy.figures] == [
        f.name
        for f in quiet.figures
        if f.name not in ("step_time", "parallelism_times", "parallelism_torch")
    ]
    [sentence] = set(busy.findings) - set(quiet.findings)
    assert "the machine was busy (93.2 % > 20 %)" in sentence
    left_out = set(quiet.findings) - set(busy.findings)
    assert left_out
    assert all(re.search(r" ms |fresh starts|timings|raced", each) for each in left_out)


def test_the_page_speaks_chinese_throughout(made_up_reports):
    with speaking("zh", catalogue.read("zh")):
        for stage, kind, part in sections(made_up_reports):
            assert part.try_this, stage
            sentences = [part.title, part.question, part.answer, *part.findings]
            sentences += [part.try_this.question, part.try_this.expected]
            sentences += [text for figure in part.figures for text in (figure.alt, figure.caption)]
            sentences += [table.note for table in part.tables]
            english = [text for text in sentences if not re.search("[\u4e00-\u9fff]", text)]
            assert english == [], (stage, kind)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.03, 2, "faster than"),
        (1.01, 2, "not measurably different from"),
        (0.5, 0.97, "slower than"),
    ],
)
def test_the_page_claims_what_the_interval_allows(low, high, words):
    m = {"speedup": (low + high) / 2, "speedup_low": low, "speedup_high": high, "starts": 8}
    assert benchmarks.verdict(m, "speedup") == words
    few = "not measurably different from"
    assert benchmarks.verdict({**m, "starts": 7}, "speedup") == few


def test_the_page_states_the_bound_on_false_speedups():
    m = {
        "control_over": 12,
        "control_under": 10,
        "control_starts": 40,
        "starts": 8,
        "controls": 5,
        "false_speedups": 0,
    }
    said = benchmarks.control_in_words(m)
    assert "raced against themselves (5) gave 0 false speed-ups" in said
    # (Clopper and Pearson: 12 of 40 at most 46.5 %, 10 of 40 at most 41.2 %)
    assert "at most 0.3 %" in said
