"""What a reader with two GPUs gets to see, and what a visit brings back from there."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.core.files import CONDITIONS, METRICS, read_json, read_rows, write_json
from tests.helpers import COMMITTED, ROOT
from tests.simulated_gpus.machines import prepare
from tests.simulated_gpus.simulation import Machine
from tests.simulated_gpus.test_stages import STAGES
from tests.stages.report.texts import Text, text_of

pytestmark = pytest.mark.slow

ON_TWO = [stage for stage, gpus in STAGES.items() if 2 in gpus]


@pytest.fixture(scope="module")
def reports(measured, folder_of, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of the machine with two GPUs, as if nothing else had run beside its stages."""
    for stage in ON_TWO:
        measured(stage, 2)
    work = tmp_path_factory.mktemp("reader") / "work"
    shutil.copytree(folder_of(2), work)
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
        ended = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
    return work / "reports"


def page(reports: Path, stage: str, language: str) -> Text:
    return text_of((reports / "pages" / f"{stage}{language}.html").read_text())


@pytest.mark.parametrize("stage", ON_TWO)
def test_a_page_is_whole_and_the_same_in_both_languages(reports, stage):
    english, chinese = (page(reports, stage, language) for language in ("", ".zh"))
    for told in (english, chinese):
        assert told.problems == []
        assert "nan" not in told.visible.split()
        assert "{{" not in told.visible + told.folded
    assert english.visible.partition("Every statement")[0].count(" ") > 100, "there is an answer"
    only = {n for n in english.numbers ^ chinese.numbers if not n.isdigit() or int(n) > 12}
    assert only == set()
    assert len(english.figures) == len(chinese.figures)


def test_no_page_takes_the_gpus_for_virtual_devices(reports):
    for stage in ON_TWO:
        visible = page(reports, stage, "").visible
        assert "Without a GPU" not in visible.partition("Every statement")[0], stage
        assert "virtual device" not in visible, stage
    kinds = {row["device_kind"] for row in read_rows(reports / "claims" / "rows.csv")}
    assert kinds == {"cpu", "cuda"}


def test_a_visit_brings_back_what_there_was_time_for(built, tmp_path):
    """Of a quarter of the time that all of it takes: what is worth most."""
    work = tmp_path / "work"
    prepare(work, gpus=2)
    words = ("lab.tools.record", "server", "--profile", "smoke", "--budget", "35")
    ended, _ = Machine(built, gpus=2).run(work, tmp_path / "notes", *words)
    assert ended.returncode == 0, ended.stderr
    reference = work / "reports" / "reference"
    found = json.loads((reference / "server.json").read_text())
    stages = list(found["stages"])
    assert stages[0] == "bench_training"
    assert found["stages"]["bench_training"]["metrics"]["device_kind"] == "cuda"
    assert found["stages"][stages[-1]] == "skipped: no time left"
    assert (reference / "server" / "bench_training" / "rows.csv").is_file()
    assert found["hardware"]["accelerator"]["count"] == 2
    assert found["gpu"]["before"] == found["gpu"]["after"]
    assert {claim["device_kind"] for claim in found["claims"]} == {"cuda"}
    assert METRICS not in {path.name for path in reference.rglob("*")}
