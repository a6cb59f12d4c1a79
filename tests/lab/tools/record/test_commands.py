"""Stages of a visit that take too long or leave processes behind."""

import csv
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from lab.core import process
from lab.tools.record import commands
from lab.tools.record.commands import run_stage
from tests.helpers import ROOT, outlived

pytestmark = pytest.mark.slow

IN_STARTS = """
import sys, time
from pathlib import Path
from lab.core.process import run
from lab.core.files import write_json, write_rows
from lab.results.measurements import Measurement, rows_of
from lab.timing.runner import measure_in_processes
from stages.one_start import measure

def main():
    measured = measure_in_processes("cut", 1000, measure)
    write_rows(Path("."), rows_of(measured))
    write_json(Path("metrics.json"), {"starts": len(measured[0].values)})

if __name__ == "__main__":
    sys.exit(run(main))
"""
ONE_START = """
import time
from lab.results.measurements import Measurement

def measure(start):
    time.sleep(0.2)
    return [Measurement("experiment", "variant", 1, (float(start),), "ms", "cpu-virtual", 1)]
"""
LEAVES_OTHERS = """
import subprocess, sys, time
from pathlib import Path
from lab.core.process import run

words = [sys.executable, "-c", "import time; time.sleep(300)"]

def main():
    others = [subprocess.Popen(words, start_new_session=own) for own in (False, True)]
    Path("others").write_text(" ".join(str(other.pid) for other in others))
    time.sleep(300)

if __name__ == "__main__":
    sys.exit(run(main))
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Make a folder whose stages shadow the project's."""
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "__init__.py").touch()
    return tmp_path


def write_stage(work: Path, **programs: str) -> None:
    for name, program in programs.items():
        (work / "stages" / f"{name}.py").write_text(program)


def others_of(work: Path) -> list[psutil.Process]:
    """Return the processes that a stage has started and that are alive."""
    pids = map(int, (work / "others").read_text().split())
    return [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]


def test_a_stage_that_is_cut_short_keeps_its_complete_samples(work):
    write_stage(work, cut=IN_STARTS, one_start=ONE_START)
    assert run_stage(["cut"], work, 60, 6) == "", "it ended by itself"
    with (work / "rows.csv").open() as file:
        values = [float(row["value"]) for row in csv.DictReader(file)]
    assert 1 <= len(values) < 1000
    assert values == [float(start) for start in range(len(values))]
    assert (work / "metrics.json").read_text().split() == ["{", '"starts":', str(len(values)), "}"]


@pytest.mark.parametrize("times", [(3,), (60, 1)], ids=["none left", "overdue"])
def test_a_stage_that_runs_out_of_time_is_ended_with_all_it_started(work, monkeypatch, times):
    """Also processes in their own sessions, as the ranks of a run are."""
    monkeypatch.setattr(process, "PATIENCE_S", 1.0)  # as the others do not end on their own
    monkeypatch.setattr(commands, "MOST_OVERDUE_S", 1.0)
    write_stage(work, slow=LEAVES_OTHERS)
    assert run_stage(["slow"], work, *times) == "skipped: ran out of time"
    assert outlived(others_of(work)) == []


def test_a_stage_does_not_outlive_the_record(work):
    write_stage(work, slow=LEAVES_OTHERS.replace("(False, True)", "()") + "# alone")
    program = (
        "from pathlib import Path\n"
        "from lab.tools.record.commands import run_stage\n"
        f"run_stage(['slow'], Path({str(work)!r}), 60)\n"
    )
    visit = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    try:
        while not (work / "others").is_file():
            assert visit.poll() is None
        [stage] = psutil.Process(visit.pid).children()
    finally:
        visit.kill()
        visit.wait()
    assert outlived([stage]) == []
