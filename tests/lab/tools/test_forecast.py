import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dvc.repo import Repo

from lab.core.errors import ParamsError
from lab.core.files import write_json
from lab.core.stage_times import COMMITTED, OWN, Times, read_times, remember, write_times
from lab.tools import forecast
from lab.tools.forecast import check_target, keep_as_committed
from lab.tools.profiles import merge
from tests.helpers import ROOT, committed_params, edit_params, files, python

MACHINE = "reports/hardware.json"
PIPELINE = """\
stages:
  probe: {cmd: a, always_changed: true, outs: [{reports/hardware.json: {cache: false}}]}
  fetch: {cmd: a, outs: [data]}
  train:
    matrix: {run: [one, two]}
    cmd: a ${item.run}
    deps: [data]
    params: [{reports/hardware.json: [cpu]}]
    outs: ["models/${item.run}.pt", {"reports/${item.run}": {cache: false}}]
  together:
    cmd: a
    deps: [reports/one]
    params: [{reports/hardware.json: [cpu]}]
    outs: [{reports/together: {cache: false}}]
  theory: {cmd: a, deps: [data], outs: [{reports/theory: {cache: false}}]}
  report: {cmd: a, deps: [reports/together, reports/theory], outs: [{index: {cache: false}}]}
"""
TRAIN = ["train@one", "train@two"]
MEASURED = {"probe", *TRAIN, "together", "report"}


@pytest.fixture
def pipeline(tmp_path, monkeypatch):
    """Make a project whose results are all in DVC."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(forecast, "_machine_changed", lambda: False)
    (tmp_path / "dvc.yaml").write_text(PIPELINE)
    for path in ("data", "models/one.pt", "models/two.pt", "index"):
        write(path)
    for name in ("one", "two", "together", "theory"):
        write(f"reports/{name}")
    write_json(tmp_path / MACHINE, {"cpu": "this"})
    with Repo.init(no_scm=True) as repo:
        repo.commit(force=True)


def write(path, text="made"):
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text)


def run_of(*targets, force=False):
    with Repo() as repo:
        return forecast.will_run(repo, targets, force)


def test_only_the_probe_runs_if_nothing_changed(pipeline):
    assert run_of() == run_of("together") == ["probe"]
    assert run_of("theory") == []


def test_changed_stages_run_with_their_dependents_and_a_target_with_its_needs(pipeline):
    write("reports/one", "another")
    assert run_of() == ["probe", "train@one", "together", "report"]
    assert run_of("together") == ["probe", "train@one", "together"]
    assert run_of("train") == run_of("train@one") == ["probe", "train@one"]


def test_missing_data_that_an_upstream_stage_restores_are_no_reason_to_run(pipeline):
    Path("data").unlink()
    assert run_of() == ["fetch", "probe"] or run_of() == ["probe", "fetch"]
    write("data", "another")
    assert {*run_of()} == {"fetch", "theory", *MEASURED}


def test_a_different_machine_measures_all_that_depends_on_it(pipeline, monkeypatch):
    monkeypatch.setattr(forecast, "_machine_changed", lambda: True)
    assert {*run_of()} == MEASURED
    assert {*run_of("train@two")} == {"probe", "train@two"}


def test_a_forced_target_runs_with_all_its_dependents(pipeline):
    assert {*run_of("probe", force=True)} == MEASURED
    assert run_of("theory", force=True) == ["theory", "report"]
    assert {*run_of("fetch", force=True)} == {"fetch", "theory", *MEASURED} - {"probe"}


def test_only_a_whole_run_of_the_laptop_profile_sets_the_committed_times(project, monkeypatch):
    write_times(OWN, Times(work_s=1.0))
    monkeypatch.setattr(forecast, "seconds_of_work", lambda: 3.0)
    remember("train@lenet_1gpu", 3.0)
    Path("params.yaml").write_text(merge("smoke"))
    remember("train@lenet_1gpu", 9.0)
    remember("train@lenet_2gpu", 9.0)
    keep_as_committed()
    assert not COMMITTED.exists()
    Path("params.yaml").write_text(committed_params())
    keep_as_committed()
    kept = read_times(COMMITTED)
    [(run, by_digest)] = kept.seconds.items()
    assert (run, [*by_digest.values()]) == ("train@lenet_1gpu", [3.0])
    assert kept.work_s == 2.0, "the machine was three times as slow at the end"


def test_an_unknown_target_is_an_error_that_names_the_nearest_one():
    stages = ["probe", "train@record_83", "train@record_90"]
    for known in ("", "probe", "train", "train@record_90"):
        check_target(known, stages)
    with pytest.raises(ParamsError, match="did you mean train@record_83"):
        check_target("train@record_38", stages)
    with pytest.raises(ParamsError, match="known: train@record_83, train@record_90"):
        check_target("train@nope", stages)


@pytest.fixture
def checkout(project):
    """Make the project a checkout without data, in which DVC works."""
    for name in ("tasks.py", "dvc.yaml", "dvc.lock", ".dvcignore"):
        shutil.copy(ROOT / name, project)
    for name in ("lab", "stages", "reports"):
        shutil.copytree(ROOT / name, project / name)
    shutil.copytree(ROOT / ".dvc", project / ".dvc", ignore=shutil.ignore_patterns("tmp", "cache"))
    subprocess.run(["git", "init", "-q"], check=True)
    edit_params({"data.mirrors.fashion_mnist": [], "data.mirrors.airfoil": []})
    return project


def invoke(*words):
    command = [sys.executable, "-m", "invoke", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_mistakes_in_params_delete_no_results(checkout):
    edit_params({"landscapes.num_seeds": 0, "train.defaults.momentum": 2})
    before = contents(checkout / "reports")
    ended = invoke("repro", "--stage", "landscapes")
    assert (ended.returncode, ended.stderr.count("ERROR: ")) == (2, 2)
    assert contents(checkout / "reports") == before


def contents(folder):
    return {
        name: (folder / name).read_bytes()
        for name in files(folder)
        if not name.startswith((".dvc/", ".lab/")) and "__pycache__" not in name
    }


def test_a_folder_that_dvc_cannot_write_to_is_a_one_line_error(checkout, capsys):
    """As in a read-only checkout; here a file takes a folder's place."""
    Path(".dvc/tmp").touch()
    assert forecast.foretell(["probe"], force=False) is None
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("ERROR: ") and ".dvc/tmp" in line


def test_a_database_of_dvc_that_cannot_grow_is_a_one_line_error(checkout):
    program = """
import resource, sys
from lab.core.process import run
from lab.tools import forecast
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
sys.exit(run(lambda: forecast.foretell(["probe"], force=False)))
"""
    ended = python("-c", program, DVC_SITE_CACHE_DIR=str(checkout / "site"))
    assert ended.returncode == 8
    [line] = ended.stderr.splitlines()
    assert line.startswith("ERROR: DVC's databases") and "DVC_SITE_CACHE_DIR" in line
