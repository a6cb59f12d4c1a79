"""What all benchmark stages derive from their samples, and what the page says of it, on a CPU and on a GPU."""

import importlib
import re

import pytest

from lab.report import benchmarks
from lab.report.language import speaking
from lab.results.measurements import rows_of
from stages.report import catalogue
from tests.helpers import draw
from tests.made_up import BENCHES, measurements, metrics, write


@pytest.mark.parametrize("stage", BENCHES)
def test_every_row_says_what_it_was_measured_on(stage):
    for row in rows_of(measurements(stage, "cpu-virtual")):
        assert row["device_kind"] in ("cpu-virtual", "cpu", "simulated")
        assert (row["value"] == "") == str(row["remark"]).startswith("skipped: ")


@pytest.mark.parametrize("stage", BENCHES)
def test_metrics_have_names_that_dvc_keeps_and_a_noise_control(stage):
    found = metrics(stage, measurements(stage, "cpu-virtual"), "cpu-virtual")
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in found)
    assert (found["aa_runs"], found["aa_false_speedups"], found["device_kind"]) == (
        1,
        0,
        "cpu-virtual",
    )


@pytest.mark.parametrize("kind", ["cpu-virtual", "cuda"])
@pytest.mark.parametrize("stage", BENCHES)
def test_the_page_of_each_kind_of_machine(stage, kind, tmp_path):
    write(stage, tmp_path, kind)
    part = importlib.import_module(f"stages.{stage}.section").section(tmp_path / stage)
    draw(part, tmp_path / "figures")
    assert part.stage == stage
    drawn = sorted(path.stem for path in (tmp_path / "figures").iterdir())
    assert drawn == sorted(figure.name for figure in part.figures)
    text = " ".join(part.findings)
    assert "nan" not in text.lower()
    assert "None" not in text
    assert ("virtual" in text) == (kind == "cpu-virtual"), (
        "a GPU's page speaks of no virtual devices"
    )
    for table in part.tables:
        assert all(len(row) == len(table.header) for row in table.rows)
    hatched = (tmp_path / "figures" / f"{part.figures[0].name}.svg").read_text().count("<pattern")
    if stage == "bench_collectives":
        hatched = (tmp_path / "figures" / "allreduce_gradients.svg").read_text().count("<pattern")
    if stage in ("bench_parallel", "bench_overlap", "bench_collectives"):
        assert (hatched > 0) == (kind == "cpu-virtual")


@pytest.mark.parametrize("kind", ["cpu-virtual", "cuda"])
@pytest.mark.parametrize("stage", BENCHES)
def test_the_page_speaks_chinese_throughout(stage, kind, tmp_path):
    write(stage, tmp_path, kind)
    with speaking("zh", catalogue.read("zh")):
        part = importlib.import_module(f"stages.{stage}.section").section(tmp_path / stage)
    assert part.try_this
    sentences = [part.title, part.question, *part.findings, part.try_this.why]
    sentences += [text for figure in part.figures for text in (figure.alt, figure.caption)]
    sentences += [table.note for table in part.tables]
    assert [text for text in sentences if not re.search("[\u4e00-\u9fff]", text)] == []


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.03, 2, "faster than"),
        (1.01, 2, "not measurably different from"),
        (0.5, 0.97, "slower than"),
    ],
)
def test_the_page_claims_what_the_interval_allows(low, high, words):
    assert (
        benchmarks.verdict(
            {"speedup": (low + high) / 2, "speedup_low": low, "speedup_high": high}, "speedup"
        )
        == words
    )
