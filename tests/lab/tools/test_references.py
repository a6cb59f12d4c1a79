import json
import time

import psutil
import pytest

from lab.core.errors import LabError, ParamsError
from lab.tools import references
from lab.tools.references import record
from tests.helpers import write_data


@pytest.fixture
def ready(project):
    write_data(project / "data", train=600, test=100)
    (project / "reports" / "bench_parallel").mkdir(parents=True)
    (project / "reports" / "bench_parallel" / "metrics.json").write_text("{}")
    return project


def test_a_record_holds_hardware_and_metrics_and_leaves_the_results_alone(ready):
    path = record("test-machine", "smoke", 120, ["bench_parallel"])
    document = json.loads(path.read_text())
    assert path == references.REFERENCE / "test-machine.json"
    assert document["hardware"]["cpu"]["usable_cores"] >= 1
    assert document["stages"]["bench_parallel"]["metrics"]["starts"] == 1, "the profile's params"
    assert document["stages"]["bench_parallel"]["seconds"] > 0
    assert (ready / "reports" / "bench_parallel" / "metrics.json").read_text() == "{}"
    assert (ready / "params.yaml").read_text() == (ready / "profiles" / "laptop.yaml").read_text()


def ends_soon(pid: int) -> bool:
    """Whether a process that was killed is gone, or waits only to be reaped, within ten seconds."""
    for _ in range(100):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.1)
    return False


def test_a_stage_that_runs_out_of_time_is_ended_with_all_it_started(tmp_path):
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "__init__.py").touch()
    (tmp_path / "stages" / "slow.py").write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('child', 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    assert (
        references._run_stage("slow", tmp_path, time.monotonic() + 3) == "skipped: ran out of time"
    )
    child = int((tmp_path / "child").read_text())
    assert ends_soon(child)
    assert references._run_stage("slow", tmp_path, time.monotonic()) == "skipped: no time left"


def test_a_stage_that_fails_is_said_with_its_code(tmp_path):
    assert (
        references._run_stage("no_such_stage", tmp_path, time.monotonic() + 60)
        == "failed with exit code 1"
    )


def test_without_any_time_there_is_no_record(ready):
    with pytest.raises(LabError, match="probe: skipped: no time left"):
        record("test-machine", "smoke", 0)
    assert not (ready / references.REFERENCE).exists()


@pytest.mark.faults("L3")
@pytest.mark.parametrize("name", ["", "../x", "..", "a/b", "a b", "-a", "ä", "a" * 65])
def test_a_name_that_is_no_file_name_is_refused(project, name):
    with pytest.raises(ParamsError, match="expected at most 64 letters, digits, _, - and"):
        record(name, "smoke", 1)
