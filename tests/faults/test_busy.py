"""A busy machine, a small one, and one whose clock is wrong, from the measurement to the page."""

import os
import re
import time
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch

from lab.claims.rules import Verdict
from lab.claims.verdicts import judge
from lab.core.files import HARDWARE_FILE, read_json, read_rows, write_json, write_metrics
from lab.core.shared_params import BenchParams
from lab.report.language import speaking
from lab.results.disturbances import LIMIT_PERCENT
from lab.results.measurements import controls, measurements_of
from lab.results.stats import median_ratio
from lab.timing.bench import time_arms
from lab.timing.conditions import load_metrics
from lab.training.checkpoints import Checkpoints
from stages.claims.__main__ import gather
from stages.report import catalogue, references, sections
from tests import made_up
from tests.claim_cases import BY_ID
from tests.faults.busy_loops import FastWatch, others_busy
from tests.helpers import ROOT, edit_params, run_stage


def race() -> None:
    """Time two arms side by side, for a moment."""
    arms = {name: partial(sum, range(2000)) for name in ("one", "other")}
    time_arms(arms, [torch.device("cpu")], BenchParams(starts=1, rounds=24, min_sample_ms=5))


@pytest.fixture
def busy_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reports of a stage that found a speed-up while a loop ran on each core."""
    monkeypatch.chdir(tmp_path)
    reports = tmp_path / "reports"
    made_up.write("bench_parallel", reports)
    with others_busy(psutil.cpu_count()):
        watch = FastWatch()
        race()
        found = load_metrics(watch)
    metrics = read_json(reports / "bench_parallel" / "metrics.json")
    write_metrics(reports / "bench_parallel", {**metrics, **found})
    write_json(tmp_path / HARDWARE_FILE, read_json(ROOT / HARDWARE_FILE))
    return reports


def test_a_loop_on_each_core_leaves_no_direction_on_the_page_and_no_verdict(busy_reports):
    busy = read_json(busy_reports / "bench_parallel" / "metrics.json")["busy_percent"]
    assert busy > LIMIT_PERCENT
    evidence = gather(busy_reports, ["bench_parallel"])
    found = judge(BY_ID["C3a"], evidence)
    assert (found.verdict, found.estimate) == (Verdict.INCONCLUSIVE, None)
    assert found.reason.startswith(f"the machine was busy ({busy:.3g} % > 20 %); ")
    assert judge(BY_ID["C1"], evidence).verdict is Verdict.REFUTED, "50 products, counted"

    build = sections.builders()["bench_parallel"]
    english = build()
    with speaking("zh", catalogue.read("zh")):
        chinese = build()
    for page, words in ((english, "the machine was busy"), (chinese, "机器正忙于其他进程")):
        assert words in page.answer
        assert f"{busy:.3g} % > 20 %" in page.answer
        assert "`invoke remeasure --stage bench_parallel`" in page.answer
        told = [*page.findings, *page.figures, *page.tables, *page.explorables]
        assert told == []
        assert page.headline is None
    assert not re.search("faster|slower|times as", english.answer)

    [headline] = [h for h in references.headlines() if h.stage == "bench_parallel"]
    machine = references.Machine(
        "this", "", {"bench_parallel": evidence.metrics["bench_parallel"]}, {}
    )
    assert machine.ratio(headline) is None


@pytest.mark.skipif(not hasattr(psutil.Process, "cpu_affinity"), reason="no affinity here")
def test_two_jobs_at_once_are_not_measurable_on_one_core(project):
    edit_params(
        {
            "bench.starts": 1,
            "bench.rounds": 5,
            "bench.min_sample_ms": 0.01,
            "bench_parallel.sizes": [8, 16],
        }
    )
    me = psutil.Process()
    cores = me.cpu_affinity()
    me.cpu_affinity(cores[:1])  # which the stage inherits
    try:
        result = run_stage("stages.bench_parallel")
    finally:
        me.cpu_affinity(cores)
    assert result.returncode == 0, result.stderr
    metrics = read_json(Path("reports/bench_parallel/metrics.json"))
    assert metrics["not_measurable"] == "needs 2 cores"
    found = judge(BY_ID["C3a"], gather(Path("reports"), ["bench_parallel"]))
    assert found.verdict is Verdict.NOT_TESTABLE
    assert found.reason.endswith("needs 2 cores")
    write_json(HARDWARE_FILE, read_json(ROOT / HARDWARE_FILE))
    page = sections.builders()["bench_parallel"]()
    assert page.answer == "Not measurable here: needs 2 cores."
    assert not page.findings
    assert not page.figures


def test_arms_against_themselves_show_a_speedup_in_one_of_a_hundred_at_most():
    """Eight starts drawn from those of a committed noise control, 200 times for each of them.

    Which of its two is called the first is drawn, too: they are the same.
    """
    rng, false, drawn = np.random.default_rng(0), 0, 0
    for path in sorted((ROOT / "reports").glob("*/rows.csv")):
        rows = read_rows(path)
        if not rows or "arm" not in rows[0]:
            continue
        for _, ratios in controls(measurements_of(rows)):
            if len(ratios) < 8:
                continue
            groups = rng.choice(ratios, (200, 8)) ** rng.choice((-1.0, 1.0), (200, 8))
            false += sum(median_ratio(group).verdict != "inconclusive" for group in groups)
            drawn += len(groups)
    assert drawn >= 200
    assert false <= drawn / 100


def test_the_newest_checkpoint_is_so_by_its_step_whatever_the_clock_said(tmp_path):
    """The clock went back a day between two of them."""
    checkpoints = Checkpoints("key", tmp_path)
    checkpoints.save(1, 5, {"step": 5})
    checkpoints.save(1, 6, {"step": 6})
    [_, newest] = sorted(checkpoints.folder.iterdir())
    os.utime(newest, (time.time() - 86400,) * 2)
    assert checkpoints.latest() == newest.read_bytes()
