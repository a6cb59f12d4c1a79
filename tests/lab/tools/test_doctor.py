"""The doctor names each state that users meet, with a command that fixes it.

Each state is planted in one small project, which git puts back between tests.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import torch
from dvc.rwlock import SCHEMA

from lab.core.outputs import write_own
from lab.data import datasets, sources
from lab.machine.gpus import driver
from lab.tools import doctor
from lab.tools.doctor import Check, clear_stale_dvc_locks, run_check
from tests.helpers import (
    ROOT,
    committed_params,
    edit_params,
    in_namespaces,
    needs_namespaces,
    small_run,
    write_data,
)

DEAD = 2**22 + 1  # above the largest PID
CPUS = [torch.device("cpu")] * 2
RWLOCK = Path(".dvc/tmp/rwlock")
METRICS, SOURCE = "reports/probe/metrics.json", "data/source.json"
LABELS = Path("data") / datasets.RAW_FOLDER / "t10k-labels-idx1-ubyte"
LOCK = """\
schema: '2.0'
stages:
  train@one:
    outs:
    - path: models/one.pt
      md5: 0123456789abcdef
  train@two:
    outs:
    - path: models/two.pt
      md5: 0123456789abcdef
"""


def git(*words: str, cwd: Path = Path()) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True)


def write(path: str | Path, content: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content)


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "with a blank"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("pyproject.toml", "profiles/laptop.yaml"):
            write(name, (ROOT / name).read_text())
        write("params.yaml", committed_params())
        runs = {"one": small_run(), "two": small_run()}
        nowhere = ["http://127.0.0.1:1"]
        edit_params({"train.runs": runs, "data.mirrors.fashion_mnist": nowhere})
        write("dvc.lock", LOCK)
        write_data(Path("data"))
        for name in ("models/one.pt", "models/two.pt", METRICS):
            write(name, "made")
        for path in (*Path("data").rglob("*"), *Path("models").iterdir()):
            if path.is_file():
                write_own(path, path.read_bytes())
        git("init", "-q", "-b", "main")
        git("add", "-A")
        git("commit", "-qm", "all")
        git("tag", "whole")
    return folder


@pytest.fixture
def project(committed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The project as the working directory; it is put back afterwards."""
    monkeypatch.chdir(committed)
    for name in ("LAB_DATA_MIRROR", *doctor.VARIABLES):
        monkeypatch.delenv(name, raising=False)
    yield committed
    monkeypatch.undo()
    git("reset", "-q", "--hard", "whole", cwd=committed)
    git("clean", "-qfdx", cwd=committed)


def wrong(check: Callable[[], Iterator[Check]]) -> list[Check]:
    return [each for each in run_check(check) if each.level != "ok"]


def only(check: Callable[[], Iterator[Check]]) -> Check:
    [finding] = wrong(check)
    return finding


def delete(*paths: str | Path) -> Callable[[], None]:
    return lambda: [Path(path).unlink() for path in paths] and None


def overwrite(path: str | Path, content: str) -> Callable[[], None]:
    return lambda: write(path, content)


def conflict() -> None:
    """A merge of two sides that both changed dvc.lock."""
    for branch in ("other", "main"):
        git("checkout", "-q", "-B", branch, "whole")
        write("dvc.lock", LOCK.replace("0123", branch))
        git("commit", "-qam", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "-q", "other")


def broken_commit() -> None:
    write("dvc.lock", "stages: [")
    git("commit", "-qam", "broken")


def locks(pid: int) -> None:
    """DVC's lock table after a DVC of that PID was killed, in a form that DVC accepts."""
    entry = {"pid": pid, "cmd": "dvc repro"}
    write(RWLOCK, json.dumps(SCHEMA({"write": {"/a": entry}, "read": {"/b": [entry]}})))


# ---- the working tree and DVC ----

MODELS = ("models/one.pt", "models/two.pt")
FOUR = ("profiles/laptop.yaml", "dvc.lock", *MODELS)
CHECKPOINT = ".lab/checkpoints/0f/00003-00120-5a.pt"
RESTORE = "git checkout HEAD -- dvc.lock"
STATES = {
    # check, how the state comes about, level, words of the line, its command
    "file": (doctor.files, delete("params.yaml"), "FAIL", "params.yaml", "git checkout -- params"),
    "files": (doctor.files, delete(*FOUR), "FAIL", "4 file(s)", "git ls-files -z --deleted"),
    "result": (doctor.files, delete(METRICS), "warn", METRICS, "invoke repro"),
    "merged": (doctor.dvc_lock, conflict, "FAIL", "a merge", RESTORE),
    "cut": (doctor.dvc_lock, overwrite("dvc.lock", LOCK[:10]), "FAIL", "dvc.lock", RESTORE),
    "empty": (doctor.dvc_lock, overwrite("dvc.lock", ""), "FAIL", "dvc.lock", RESTORE),
    "broken in git": (doctor.dvc_lock, broken_commit, "FAIL", "dvc.lock", "rm dvc.lock"),
    "no dvc.lock": (doctor.dvc_lock, delete("dvc.lock"), "note", "dvc.lock", "invoke repro"),
    "rwlock": (doctor.dvc_busy, overwrite(RWLOCK, "a{"), "FAIL", "rwlock", "rm .dvc/tmp/rwlock"),
    "killed DVC": (doctor.dvc_busy, lambda: locks(DEAD), "warn", str(DEAD), doctor.FIX),
    "weights": (doctor.weights, delete(MODELS[1]), "note", "two", "invoke train two"),
    "clone": (doctor.weights, delete(*MODELS), "note", "one, two", "invoke repro --stage train"),
    "stopped": (doctor.checkpoints, overwrite(CHECKPOINT, ""), "note", "3 epochs", "invoke repro"),
    "no source": (doctor.data, delete(SOURCE), "warn", "no data", "export LAB_DATA_MIRROR=FOLDER"),
}


@pytest.mark.parametrize("name", STATES)
def test_state_is_named_and_fixed(project, name):
    check, plant, level, words, fix = STATES[name]
    assert wrong(check) == []
    plant()
    finding = only(check)
    assert (finding.level, finding.exit_code) == (level, 4)
    assert words in finding.text and finding.fix.startswith(fix)
    if finding.repair:
        finding.repair()
    elif finding.fix.startswith("git"):
        subprocess.run(finding.fix, shell=True, check=True)  # noqa: S602
    else:
        return
    assert wrong(check) == []


def test_figures_that_a_report_draws_no_more_are_no_lost_results(project):
    write("reports/figures/one.svg", "drawn")
    git("add", "reports")
    Path("reports/figures/one.svg").unlink()
    assert wrong(doctor.files) == []


@pytest.fixture
def pipeline(project):
    """A project with two stages of DVC's, one after the other, of which it knows."""
    write(".dvc/config", "")
    write("dvc.yaml", "stages: {a: {cmd: a, outs: [a/1]}, b: {cmd: b, deps: [a/1], outs: [b]}}")
    (project / "dvc.lock").unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "value"),
    [("SHELL", "/bin/false"), ("SHELL", "/nowhere/fish"), ("PYTHONWARNINGS", "error")],
)
def test_what_keeps_dvc_from_running_is_named(pipeline, monkeypatch, variable, value):
    assert wrong(doctor.dvc_runs) == []
    monkeypatch.setenv(variable, value)
    found = [*wrong(doctor.variables), *wrong(doctor.dvc_runs)]
    assert f"unset {variable}" in [finding.fix for finding in found]
    assert "warn" in [finding.level for finding in found] or found[-1].exit_code == 4


def test_a_user_without_a_name_is_told_to_take_one(pipeline, monkeypatch):
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2**30)
    finding = only(doctor.dvc_runs)
    assert str(2**30) in finding.text and finding.fix.startswith("export USER=")


@needs_namespaces
def test_a_loopback_interface_that_is_down_is_named():
    program = "from lab.tools.doctor import *; print(*run_check(loopback))"
    command = in_namespaces("true", sys.executable, "-c", program)
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "127.0.0.1" in said and "ip link set lo up" in said
    assert wrong(doctor.loopback) == []


@pytest.mark.parametrize("state", ["dead", "zombie", "another program", "running"])
def test_only_a_running_dvc_keeps_its_lock(project, state):
    program = [sys.executable, "-c", "" if state == "zombie" else "import time; time.sleep(60)"]
    with subprocess.Popen(program + ["dvc"] * (state == "running")) as process:
        try:
            if state == "zombie":  # it has ended, and nobody has waited for it
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            else:  # until it has begun it has no command line
                while not psutil.Process(process.pid).cmdline():
                    time.sleep(0.01)
            locks(DEAD if state == "dead" else process.pid)
            finding = only(doctor.dvc_busy)
            assert clear_stale_dvc_locks() == (finding.repair is not None) == (state != "running")
            assert RWLOCK.exists() == (state == "running")
        finally:
            process.kill()


def test_restored_dvc_lock_leaves_the_broken_one(project):
    write("dvc.lock", "stages: [")
    only(doctor.dvc_lock).repair()
    assert Path("dvc.lock").read_text() == LOCK
    assert doctor.BROKEN_DVC_LOCK.read_text() == "stages: ["


def test_git_that_does_not_work_is_named(project, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own
    assert "git config --global --add safe.directory" in only(doctor.files).text
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert only(doctor.files).fix == "git clone URL"
    monkeypatch.setenv("PATH", "/nowhere")
    assert only(doctor.files).fix == "sudo apt install git"


def test_folder_of_another_user_is_named(project, monkeypatch):
    assert wrong(doctor.writable) == []
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != Path("reports/probe"))
    finding = only(doctor.writable)
    assert finding.level == "FAIL"
    assert "reports/probe" in finding.text and "chown" in finding.fix


# ---- data ----


@pytest.mark.parametrize(
    ("check", "path"),
    [(doctor.data, LABELS), (doctor.data, Path(SOURCE)), (doctor.weights, Path(MODELS[0]))],
)
def test_damaged_data_and_a_users_files_in_their_place_are_named(project, check, path):
    path.write_bytes(b"half, or mine")
    finding = only(check)
    assert (finding.level, finding.exit_code) == ("FAIL", 3)
    assert str(path) in finding.text


def test_links_out_of_the_project_are_named(project, tmp_path):
    for name in ("data/FashionMNIST", "models"):
        shutil.move(name, tmp_path / name)
        Path(name).symlink_to(tmp_path / name)
    [data], [models, *_] = wrong(doctor.data), wrong(doctor.weights)
    assert f"LAB_DATA_MIRROR={tmp_path / 'data'}" in data.text
    assert str(tmp_path / "models") in models.text
    assert {data.exit_code, models.exit_code} == {3}


def test_a_users_published_files_are_seen(project, monkeypatch):
    """Those that lie in data/ are taken for the published ones, but for the airfoil table."""
    pins = [
        replace(file, unpacked_sha256=hashlib.sha256(file.path.read_bytes()).hexdigest())
        for file in sources.FASHION_FILES
    ]
    monkeypatch.setattr(sources, "FASHION_FILES", tuple(pins))
    shutil.rmtree(".lab")
    for name in (SOURCE, datasets.DATA / datasets.AIRFOIL_FILE):
        Path(name).unlink()
    here, lacking = wrong(doctor.data)
    assert (here.level, here.fix) == ("note", doctor.FETCH)
    assert str(LABELS.parent) in here.text
    assert sources.AIRFOIL.name in lacking.text and "idx" not in lacking.text


def test_own_mirror_without_the_files_is_named(project, tmp_path, monkeypatch):
    (project / "data/source.json").unlink()
    monkeypatch.setenv("LAB_DATA_MIRROR", str(tmp_path))
    lacking, unreachable = wrong(doctor.data)
    assert (lacking.level, unreachable.level) == ("warn", "FAIL"), "no look-alikes beside a mirror"
    assert unreachable.exit_code == 3
    assert "fashion-mnist/train-images-idx3-ubyte.gz" in lacking.text
    for file in (*sources.FASHION_FILES, sources.AIRFOIL):
        write(tmp_path / file.folders[0] / file.name, "damaged")
    damaged, _ = wrong(doctor.data)
    assert "other bytes" in damaged.text
    pin = hashlib.sha256(b"damaged").hexdigest()
    *fashion, airfoil = (
        replace(file, sha256=pin) for file in (*sources.FASHION_FILES, sources.AIRFOIL)
    )
    monkeypatch.setattr(sources, "FASHION_FILES", tuple(fashion))
    monkeypatch.setattr(sources, "AIRFOIL", airfoil)
    found = only(doctor.data)
    assert (found.level, found.fix) == ("note", "invoke repro --stage fetch")
    assert str(tmp_path) in found.text


# ---- Python and packages ----


@pytest.mark.parametrize(
    ("versions", "words"), [({"torch": "2.5.0"}, "torch 2.5.0"), ({"psutil": None}, "psutil")]
)
def test_wrong_packages_are_named(project, monkeypatch, versions, words):
    assert wrong(doctor.packages) == []
    real = doctor.version

    def version(name: str) -> str:
        if versions.get(name, "") is None:
            raise doctor.PackageNotFoundError(name)
        return versions.get(name) or real(name)

    monkeypatch.setattr(doctor, "version", version)
    finding = only(doctor.packages)
    assert words in finding.text and "pip install" in finding.fix


@pytest.mark.parametrize(
    ("torch", "needed", "fits"),
    [
        ("2.13.0+cpu", "torch==2.13.0", True),
        ("2.13.0+cpu", "torch==2.12.0", False),
        ("2.15.0+cu132", "torch>=2.14.0", True),
        ("2.13.0", "torch>=2.14.0", False),
    ],
)
def test_torch_is_one_that_torchvision_needs(project, monkeypatch, torch, needed, fits):
    """As torchvision 0.28.0, 0.27.0, 0.29.2 and 0.29.1 say themselves."""
    real = doctor.version
    monkeypatch.setattr(doctor, "version", lambda name: torch if name == "torch" else real(name))
    monkeypatch.setattr(doctor, "requires", lambda name: ["numpy", needed, "pillow!=8.3.*,>=5.3.0"])
    if fits:
        assert wrong(doctor.packages) == []
    else:
        finding = only(doctor.packages)
        assert torch in finding.text and "pip install" in finding.fix


def test_wrong_python_is_named(monkeypatch, tmp_path):
    own = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", own)
    assert wrong(doctor.python) == []
    monkeypatch.setenv("PATH", str(tmp_path))
    assert own in only(doctor.python).fix
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    assert (only(doctor.python).level, only(doctor.python).exit_code) == ("FAIL", 4)


def test_variables_and_full_disks_are_named(monkeypatch):
    for name in doctor.VARIABLES:
        monkeypatch.setenv(name, "1")
    assert {each.fix for each in wrong(doctor.variables)} == {
        f"unset {name}" for name in doctor.VARIABLES
    }
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: SimpleNamespace(free=10**9))
    assert {each.exit_code for each in wrong(doctor.disk_space)} == {8}
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**26))
    [*_, shared] = wrong(doctor.disk_space)
    assert shared.level == "warn" and "--shm-size" in shared.fix


@pytest.mark.slow
def test_without_packages_the_doctor_says_so(project):
    """Python without its site-packages; torch is tried in another process, which has them."""
    program = "import sys; from lab.tools.doctor import doctor; sys.exit(doctor())"
    command = [sys.executable, "-S", "-c", program]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (result.returncode, result.stderr) == (4, "")
    lines = result.stdout.splitlines()
    assert any(line.startswith("FAIL  packages: ") and "pip install" in line for line in lines)
    assert any(line.startswith("ok    torch and gpus: torch 2.") for line in lines)


# ---- GPUs ----


@pytest.mark.parametrize(
    ("script", "level", "words", "fix"),
    [
        ("1, Exclusive_Process, 0, 0, 9, 0x1", "FAIL", "GPU 1 ", "sudo nvidia-smi -i 1 -c DEFAULT"),
        ("0, Default, 0, 72000, 143771, 0x1", "warn", "70.3 of 140.4 GiB", "nvidia-smi"),
        ("0, Default, 98, 520, 143771, 0x1", "warn", "98 %", "nvidia-smi"),
        ("0, Default, 0, 0, 143771, 0x0000000000000064", "warn", "throttled", "nvidia-smi -i 0"),
        ("0, Default, 0, 520, 143771, 0x3", "", "", ""),
        ("0, Default, [N/A], [N/A], [N/A], [Not Supported]", "", "", ""),
        ("Driver/library version mismatch; exit 18", "warn", "mismatch", "sudo reboot"),
        ("No devices were found; exit 6", "warn", "No devices", "nvidia-smi"),
    ],
    ids=["exclusive", "full", "busy", "throttled", "idle", "part of one", "updated", "none"],
)
def test_gpu_state_is_named(fake_nvidia_smi, script, level, words, fix):
    said, _, end = script.partition("; ")
    fake_nvidia_smi(f"echo '{said}'; {end}")
    found = wrong(doctor.gpus)
    assert [each.level for each in found] == [level] * bool(level)
    assert all(words in each.text and each.fix.startswith(fix) for each in found)


def test_hanging_driver_is_named(fake_nvidia_smi, monkeypatch):
    fake_nvidia_smi("exec sleep 60")
    monkeypatch.setattr(driver.query, "__kwdefaults__", {"seconds": 0.1})
    assert only(doctor.gpus).fix == "sudo reboot"


@pytest.mark.parametrize(
    ("cuda", "gpus", "level"), [(None, 0, "warn"), ("13.0", 0, "warn"), ("13.0", 2, "ok")]
)
def test_torch_that_sees_no_gpu_is_named(fake_nvidia_smi, monkeypatch, cuda, gpus, level):
    fake_nvidia_smi("exit 0")
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(doctor, "try_gpus", lambda devices: iter([]))
    [finding] = [each for each in doctor.try_torch() if isinstance(each, Check)]
    assert finding.level == level


@pytest.mark.parametrize("planted", [None, "a bit", "all", "one direction"])
def test_damaged_copies_between_gpus_are_named(monkeypatch, planted):
    """On two CPU devices, with a copy that changes what arrives."""
    monkeypatch.setattr(doctor, "COPIED_BYTES", 2**16)
    calls, real = count(), torch.Tensor.copy_

    def copy_(self: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        before = self.clone()
        real(self, source)
        if planted == "a bit":
            self[-1] ^= 1
        elif planted == "all" or (planted == "one direction" and next(calls) == 1):
            real(self, before)
        return self

    monkeypatch.setattr(torch.Tensor, "copy_", copy_)
    found = [each for each in doctor.try_gpus(CPUS) if isinstance(each, Check)]
    assert [each.level for each in found] == ["FAIL"] * (planted is not None)
    assert all(each.fix and "cpu to cpu" in each.text for each in found)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import time; time.sleep(60)", "does not end"),
        ("import os; os.abort()", signal.SIGABRT.name),
        ("raise SystemExit('odd')", "odd"),
    ],
)
def test_torch_that_hangs_or_crashes_is_named(monkeypatch, program, words):
    step = 'print(\'{"step": "copying from cuda:0 to cuda:1"}\', flush=True); '
    monkeypatch.setattr(doctor, "TRY_TORCH", step + program)
    monkeypatch.setattr(doctor, "TORCH_TIMEOUT_S", 1 if "sleep" in program else 60)
    finding = only(doctor.torch_and_gpus)
    assert words in finding.text and "cuda:0 to cuda:1" in finding.text and finding.fix


# ---- the report ----


def test_report_and_exit_code(monkeypatch, capsys):
    def warns() -> Iterator[Check]:
        yield Check("warn", "works,\n but", "do it", repair=lambda: "done")

    def fails() -> Iterator[Check]:
        yield Check("FAIL", "broken", exit_code=3, repair=lambda: str(1 // 0))
        raise ImportError("No module named 'x'")

    monkeypatch.setattr(doctor, "CHECKS", (warns, fails))
    assert doctor.doctor() == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["warn  warns: works, but; `do it`", "FAIL  fails: broken"]
    assert lines[2].startswith("FAIL  fails: ") and "pip install" in lines[2]
    assert doctor.FIX in lines[3]
    assert doctor.doctor(fix=True) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "fixed warns: done"
    assert lines[1].startswith("FAIL  fails: broken; not fixed: ")
