"""What a reader with two GPUs sees, and what a visit brings back from such a machine."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.core.files import CONDITIONS, read_json, read_rows, write_json
from lab.tools.references import judged
from tests.helpers import COMMITTED, ROOT
from tests.simulated_gpus.machines import prepare
from tests.simulated_gpus.simulation import Machine
from tests.simulated_gpus.test_stages import STAGES
from tests.stages.report.texts import text_of

pytestmark = pytest.mark.slow

ON_TWO = [stage for stage, gpus in STAGES.items() if 2 in gpus]


def draw(work: Path) -> Path:
    """Judge the claims and draw the report, as if nothing else had run during the stages."""
    for path in work.glob(f"reports/*/{CONDITIONS}"):
        quiet = {"busy_percent": 0.0, "disturbed": None}
        conditions = {key: quiet.get(key, value) for key, value in read_json(path).items()}
        for key in [key for key in conditions if key.endswith("_after")]:
            conditions[key] = conditions[key.replace("_after", "_before")]
        write_json(path, {key: value for key, value in conditions.items() if value is not None})
    shutil.copy(COMMITTED / "reports" / "hardware.json", work / "reports")
    for stage in ("claims", "report"):
        command = [sys.executable, "-m", f"stages.{stage}"]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
        ended = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
    return work / "reports"


def test_pages_of_gpus_are_complete_and_the_same_in_both_languages(measured, folder_of, tmp_path):
    for stage in ON_TWO:
        measured(stage, 2)
    measured("scaling", 4)
    work = tmp_path / "work"
    shutil.copytree(folder_of(2), work)
    shutil.copytree(folder_of(4) / "reports" / "scaling", work / "reports" / "scaling")
    reports = draw(work)
    for stage in (*ON_TWO, "scaling"):
        english, chinese = (
            text_of((reports / "pages" / f"{stage}{language}.html").read_text())
            for language in ("", ".zh")
        )
        for told in (english, chinese):
            assert told.problems == [], stage
            assert "nan" not in told.visible.split(), stage
            assert "{{" not in told.visible + told.folded, stage
        only = {n for n in english.numbers ^ chinese.numbers if not n.isdigit() or int(n) > 12}
        assert only == set(), stage
        assert len(english.figures) == len(chinese.figures), stage
        answer, _, _ = english.visible.partition("Every statement")
        # times mean nothing here: by them a GPU's work may not outlast its launch
        if "needs larger sizes on this GPU" not in answer:
            assert answer.count(" ") > 100, f"{stage} has no answer"
        assert "Without a GPU" not in answer, stage
        for devices in ("shares of the CPU", "virtual devices on the CPU"):
            assert devices not in english.visible + english.folded, stage
    kinds = {row["device_kind"] for row in read_rows(reports / "claims" / "rows.csv")}
    assert kinds == {"cpu", "cuda"}


VISIT = """
import sys
from lab.core.process import run
from lab.tools.record.parts import VisitPart
from lab.tools.record.visit import record

parts = [VisitPart("bench_parallel", 1), VisitPart("train", 1, "record_83")]
sys.exit(run(lambda: record("server", "smoke", 600, parts)))
"""


def test_a_visit_brings_back_the_results_of_the_gpus(built, tmp_path):
    work = tmp_path / "work"
    prepare(work, gpus=2)
    (work / "visit.py").write_text(VISIT)
    ended, _ = Machine(built, gpus=2).run(work, tmp_path / "notes", "visit")
    assert ended.returncode == 0, ended.stderr
    reference = work / "reports" / "reference"
    found = json.loads((reference / "server.json").read_text())
    for part in ("bench_parallel", "train/record_83"):
        assert found["stages"][part]["conditions"]["device_kind"] == "cuda"
        assert (reference / "server" / part / "rows.csv").is_file()
    assert found["hardware"]["accelerator"]["count"] == 2
    assert [gpu["name"] for gpu in found["gpu"]["before"]] == ["Simulated GPU"] * 2
    assert found["gpu"]["before"] == found["gpu"]["after"]
    told = judged(reference / "server.json").judgements
    assert told["C3a"].device_kind == told["C3c"].device_kind == "cuda"
