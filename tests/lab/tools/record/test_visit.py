"""Visits of real stages, with the smallest params."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from lab.core.errors import ParamsError
from lab.core.files import read_rows
from lab.tools import references
from lab.tools.record.parts import VisitPart
from lab.tools.record.visit import earlier, enough, record
from tests import forked
from tests.helpers import COMMITTED, ROOT, committed_params, files, outlived, write_data

pytestmark = pytest.mark.slow


@pytest.fixture
def ready(project):
    write_data(project / "data", train=600, test=100)
    (project / "reports" / "bench_parallel").mkdir(parents=True)
    (project / "reports" / "bench_parallel" / "metrics.json").write_text("{}")
    return project


def test_a_visit_keeps_finished_stages_and_the_next_one_does_the_rest(ready, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(forked.on_path() / "python"))  # for the stages
    path, kept = (references.REFERENCE / name for name in ("my.machine.json", "my.machine"))
    (kept / "of_an_earlier_visit").mkdir(parents=True)
    (kept / "of_an_earlier_visit" / "rows.csv").touch()
    absent, trains = VisitPart("no_such_stage", 1), VisitPart("train", 1, "record_83")
    parallel = VisitPart("bench_parallel", 1)  # in one process, which decides nothing

    def visit(*parts):
        record("my.machine", "smoke", 600, parts)
        return references.read_reference(path)

    first = visit(absent, trains, parallel)
    assert first["profile"] == "smoke"
    assert first["hardware"]["cpu"]["usable_cores"] >= 1
    assert set(first["gpu"]) == {"versions", "before", "after"}
    assert first["stages"]["no_such_stage"] == "failed with exit code 1"
    assert first["stages"]["bench_parallel"]["seconds"] > 0
    taken = references.taken_of(first)
    assert taken["bench_parallel"].conditions["starts"] == 1, "the profile's params"
    assert files(kept) == {"bench_parallel/rows.csv", "train/record_83/rows.csv"}
    experiments = {row["experiment"] for row in read_rows(kept / "bench_parallel" / "rows.csv")}
    assert {"products", "the notes' run"} <= experiments
    assert (ready / "reports" / "bench_parallel" / "metrics.json").read_text() == "{}"
    assert (ready / "params.yaml").read_text() == committed_params()

    second = visit(trains, parallel, VisitPart("another_such_stage", 1))
    assert second["stages"]["train/record_83"] == first["stages"]["train/record_83"]
    assert second["stages"]["bench_parallel"] != first["stages"]["bench_parallel"]
    assert second["stages"]["another_such_stage"] == "failed with exit code 1"

    software = second["hardware"]["software"] | {"torch": "1.0"}
    path.write_text(json.dumps(second | {"hardware": second["hardware"] | {"software": software}}))
    of_another = path.read_text(), files(kept)
    with pytest.raises(ParamsError, match="no stage has finished"):
        visit(absent)
    assert (path.read_text(), files(kept)) == of_another, "nothing has replaced it yet"
    assert list(visit(trains)["stages"]) == ["train/record_83"], "of another machine nothing stays"
    assert files(kept) == {"train/record_83/rows.csv"}


def test_a_stage_that_fails_now_stays_as_an_earlier_visit_measured_it(ready, monkeypatch):
    measured = {"seconds": 1.0, "findings": {}, "conditions": {"starts": 1}}
    parallel, overlap = (VisitPart(stage, 1) for stage in ("bench_parallel", "bench_overlap"))
    ends = iter([measured, "ended after 1 s", measured])
    monkeypatch.setattr("lab.tools.record.visit.measure", lambda *given: next(ends))
    for parts in ([parallel], [parallel, overlap]):
        record("mine", "smoke", 600, parts)
    stages = references.read_reference(references.path_of("mine"))["stages"]
    assert stages == {"bench_parallel": measured, "bench_overlap": measured}


def test_only_a_visit_to_such_a_machine_with_the_same_params_is_continued():
    path = COMMITTED / references.path_of("h200")
    document = references.read_reference(path)
    hardware, profile = document["hardware"], document["profile"]
    assert earlier(path, hardware, profile) == document["stages"]
    assert earlier(path, hardware, "smoke") == earlier(path, {}, profile) == {}


@pytest.mark.parametrize(
    ("name", "lacking"),
    [("h100", {"bench_parallel", "bench_async", "bench_hardware"}), ("h200", set())],
)
def test_only_stages_with_too_few_processes_to_decide_are_lacking(name, lacking):
    document = references.read_reference(COMMITTED / references.path_of(name))
    stages = references.taken_of(document)
    assert {stage for stage, taken in stages.items() if not enough(taken)} == lacking


def test_a_visit_that_ends_early_keeps_what_was_finished(ready):
    program = (
        "import sys\n"
        "from lab.core.process import run\n"
        "from lab.tools.record.parts import VisitPart\n"
        "from lab.tools.record.visit import record\n"
        "parts = [VisitPart('train', 1, 'record_83'), VisitPart('bench_training', 1)]\n"
        "sys.exit(run(lambda: record('early', 'smoke', 600, parts)))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    visit = subprocess.Popen([sys.executable, "-c", program], cwd=ready, env=environment)
    path = ready / references.REFERENCE / "early.json"
    started: list[psutil.Process] = []
    while not (path.is_file() and started):  # until the next stage runs
        assert visit.poll() is None
        started = psutil.Process(visit.pid).children(recursive=True)
        time.sleep(0.05)
    visit.send_signal(signal.SIGTERM)
    assert visit.wait(timeout=60) == 143
    assert not outlived(started)
    document = json.loads(path.read_text())
    assert list(document["stages"]) == ["train/record_83"]
    assert document["stages"]["train/record_83"]["conditions"]["train_images"] == 600
    assert files(path.with_suffix("")) == {"train/record_83/rows.csv"}
