import shutil
import subprocess
import sys

import pytest

from lab.core.errors import ParamsError
from lab.core.params import read_yaml
from lab.machine.speed import Speed
from lab.tools.forecast import changed_of, check_target, downstream, stages_of, upstream
from tests.helpers import ROOT, edit_params, files

RUNS = ("lenet_1gpu", "record_83")
STAGES = stages_of(read_yaml(ROOT / "dvc.yaml"), RUNS)
TRAIN = {f"train@{run}" for run in RUNS}
MEASURED = {name for name, stage in STAGES.items() if stage.is_measured}


def test_a_run_of_one_stage_needs_the_probe_and_data_where_it_reads_them():
    assert upstream(["bench_async"], STAGES) == {"probe", "bench_async"}
    assert upstream(["train@record_83"], STAGES) == {"probe", "fetch", "train@record_83"}
    assert upstream(["report"], STAGES) == {*STAGES}


def test_what_runs_reaches_what_reads_its_results():
    assert downstream(["bench_async"], STAGES) == {"bench_async", "claims", "report"}
    of_record = {"train@record_83", "together", "report"}
    assert downstream(["train@record_83"], STAGES) == of_record
    assert downstream(["fetch"], STAGES) == {"fetch", "report"}, "data are the same again"
    assert downstream(["probe"], STAGES) == {*STAGES} - {"fetch", "landscapes"}
    assert MEASURED >= TRAIN


def test_data_that_a_stage_before_brings_back_are_no_reason_to_run():
    status = {
        "probe": ["always changed"],
        "fetch": [{"changed outs": {"data/airfoil": "deleted"}}],
        "landscapes": [{"changed deps": {"data/airfoil": "deleted"}}],
        "optimizers": [{"changed deps": {"data/airfoil": "deleted", "params.yaml": {"x": "new"}}}],
        "report": ["changed command"],
    }
    assert changed_of(status) == {"probe", "fetch", "optimizers", "report"}


def test_work_takes_half_as_long_on_a_machine_that_is_twice_as_fast_in_all():
    fast, slow = Speed(200.0, 20.0), Speed(100.0, 10.0)
    assert (fast.times_as_long_as(slow), slow.times_as_long_as(fast)) == (0.5, 2.0)
    arithmetic_alone = Speed(200.0, 10.0)
    assert arithmetic_alone.times_as_long_as(slow) == 0.75


def test_a_target_that_the_pipeline_lacks_is_an_error_with_the_nearest_one():
    stages = ["probe", "train@record_83", "train@record_90"]
    for known in ("", "probe", "train", "train@record_90"):
        check_target(known, stages)
    with pytest.raises(ParamsError, match="did you mean train@record_83"):
        check_target("train@record_38", stages)


@pytest.fixture
def checkout(project):
    """The project as a checkout without data, in which DVC works."""
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paths", "command"),
    [
        (["data/FashionMNIST/raw/t10k-labels-idx1-ubyte", "data/source.json"], ("repro",)),
        (["data/airfoil/airfoil_self_noise.dat"], ("remeasure", "--stage", "fetch")),
        (["models/lenet_1gpu.pt"], ("train", "lenet_1gpu")),
    ],
)
def test_a_users_file_in_the_place_of_an_output_stops_before_dvc_starts(checkout, paths, command):
    for path in paths:
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).write_text("mine")
    before = contents(checkout)
    ended = invoke(*command)
    assert ended.returncode == 3
    lines = ended.stderr.splitlines()
    assert [path in line for path, line in zip(paths, lines, strict=True)] == [True] * len(paths)
    assert "dvc repro" not in ended.stdout
    assert before.items() <= contents(checkout).items()


def contents(folder):
    return {
        name: (folder / name).read_bytes()
        for name in files(folder)
        if not name.startswith((".dvc/", ".lab/")) and "__pycache__" not in name
    }
