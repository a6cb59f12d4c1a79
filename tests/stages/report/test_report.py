"""What report reads, derives and writes, and how it ends."""

import re
import shutil

import pytest

from lab.claims.needs import A_GPU
from lab.core.files import read_rows, write_json
from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.process import run
from lab.results.documents import read_metrics
from stages.bench_input.measure.names import RESIDENT
from stages.report import __main__ as report
from stages.report import sections
from tests.helpers import edit_params, errors, files, hardware, run_stage, small_run
from tests.stages.report.conftest import report_without_torch, write_runs

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)"


def test_the_report_is_the_same_bytes_twice_without_torch_and_asks_nothing_of_the_network(
    drawn, project
):
    first = {name: (drawn / name).read_bytes() for name in files(drawn)}
    assert {
        "index.html",
        "index.zh.html",
        "README.md",
        "figures/samples.svg",
        "figures/together.svg",
    } <= set(first)
    report_without_torch(project, hash_seed="2")
    reports = project / "reports"
    assert files(reports) == set(first)
    assert [name for name in first if (reports / name).read_bytes() != first[name]] == []
    for html in (first[page].decode() for page in ("index.html", "index.zh.html")):
        shown = len(re.findall('<figure id="[^"]+">', html))
        assert shown > 30
        # the one of the first screen stands in its own section, too
        assert html.count('<svg role="img" aria-label=') > len(
            [f for f in first if f.endswith(".svg")]
        )
        assert "default-src 'none'" in html
        for word in ('src="http', 'href="http', "<script src", "<link", "url(http"):
            assert word not in html
        assert not re.search("<strong>(Synthetic data|合成数据)", html)


def test_look_alikes_are_said_and_what_is_hostile_or_damaged_keeps_no_page_from_the_rest(project):
    reports = project / "reports"
    look_alikes = {"dataset": "synthetic", "airfoil": "synthetic"}
    write_json(reports / "fetch" / "conditions.json", look_alikes)
    write_runs(project, "synthetic")
    edit_params({"train.runs": {**read_yaml(PARAMS_FILE)["train"]["runs"], EVIL: small_run()}})
    shutil.copytree(reports / "train" / "lenet_1gpu", reports / "train" / EVIL)
    claims = read_rows(reports / "claims" / "rows.csv")
    for file, old in (("bench_input", RESIDENT), ("claims", f"needs {A_GPU}")):
        rows = (reports / file / "rows.csv").read_text()
        assert old in rows
        (reports / file / "rows.csv").write_text(rows.replace(old, EVIL))
    (reports / "bench_async" / "metrics.json").write_text('{"a": 1}')
    (reports / "schedules" / "metrics.json").write_text("")
    (reports / "convergence" / "rows.csv").write_text("demo,series\n" + EVIL)
    text = (reports / "bench_parallel" / "metrics.json").read_text()
    (reports / "bench_parallel" / "metrics.json").write_text(
        re.sub('"speedup": .*?,', '"speedup": NaN,', text)
    )
    (reports / "scaling" / "rows.csv").unlink()
    overlap = read_metrics(reports / "bench_overlap")
    faster = {"speedup": 50.0, "speedup_low": 40.0, "speedup_high": 60.0}
    write_json(
        reports / "reference" / "other.json",
        {
            "name": EVIL,
            "profile": "full",
            "hardware": hardware("a server's CPU", gpus=["H9000"]),
            "stages": {"bench_overlap": {"metrics": {**overlap, **faster}}},
            "claims": claims,
        },
    )
    result = run_stage("stages.report", "--strict")
    assert result.returncode == 3, result.stderr
    assert "no usable results of" in errors(result)[0]
    for page in ("index.html", "index.zh.html"):
        html = (reports / page).read_text()
        assert EVIL not in html
        assert html.count("&lt;script&gt;alert(1)") > 5
        for stage in ("bench_async", "schedules", "convergence", "scaling"):
            assert f"dvc repro --force {stage}" in html
        for figure in ("roofline", "training_curves"):
            assert f'id="figure-{figure}"' in html, "what is whole is shown"
    confirmed = sum(row["verdict"] == "confirmed" for row in claims)
    for page, machine in (
        ("index.html", "&lt;script&gt;alert(1): ✓ "),
        ("index.zh.html", "&lt;script&gt;alert(1)：✓ "),
    ):
        assert (reports / page).read_text().count(machine) == confirmed > 20, page
    english = ("Synthetic data", "synthetic look-alike")
    chinese = ("<strong>合成数据", "合成的仿制")
    for page, words in (
        ("index.html", english),
        ("README.md", english[:1]),
        ("index.zh.html", chinese),
    ):
        text = (reports / page).read_text()
        assert [word for word in words if word not in text] == []


def test_a_run_without_results_is_said(project, monkeypatch, capsys):
    """On a page of one section, in this process."""
    (project / "reports" / "train" / "lenet_2gpu" / "metrics.json").unlink()
    only_train = {"train": sections.builders()["train"]}
    monkeypatch.setattr(report, "builders", lambda: only_train)
    monkeypatch.setattr("sys.argv", ["report"])
    assert run(report.main) == 0
    words = {"index.html": "train: no results to show", "index.zh.html": "train：没有可显示的结果"}
    for page, title in words.items():
        text = (project / "reports" / page).read_text()
        assert title in text
        assert "lenet_2gpu/metrics.json: not there yet; <code>invoke repro</code> makes it" in text
    monkeypatch.setattr("sys.argv", ["report", "--strict"])
    assert run(report.main) == 3
    assert "no usable results of train" in capsys.readouterr().err
