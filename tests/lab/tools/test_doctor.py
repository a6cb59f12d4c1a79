"""The doctor names each state that users meet, with a command that fixes it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from dvc.rwlock import SCHEMA

from lab.core.outputs import write_own
from lab.data import datasets
from lab.machine.gpus import driver
from lab.tools import doctor
from lab.tools.doctor import Check, run_check
from lab.tools.dvc_files import clear_stale_dvc_locks
from tests.helpers import ROOT, edit_params, python, write_data

DEAD = 2**22 + 1  # above the largest PID
RWLOCK = Path(".dvc/tmp/rwlock")
SOURCE = "data/source.json"
LABELS = Path("data") / datasets.RAW_FOLDER / "t10k-labels-idx1-ubyte"
LOCK = """\
schema: '2.0'
stages:
  train@one:
    outs:
    - path: models/one.pt
      md5: 0123456789abcdef
"""


def git(*words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def write(path: str | Path, content: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content)


def own_data(origin: str = "original") -> None:
    """Write data as `fetch` leaves them, recorded as the lab's own."""
    write_data(Path("data"), origin=origin)
    for path in Path("data").rglob("*"):
        if path.is_file():
            write_own(path, path.read_bytes())


@pytest.fixture
def installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with data, a committed dvc.lock, and no source of data."""
    monkeypatch.delenv("LAB_DATA_MIRROR", raising=False)
    shutil.copy(ROOT / "pyproject.toml", project)
    edit_params({"data.mirrors.fashion_mnist": ["http://127.0.0.1:1"]})
    write("dvc.lock", LOCK)
    own_data()
    git("init", "-q", "-b", "main")
    git("add", "dvc.lock")
    git("commit", "-qm", "all")
    return project


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
    """Merge two branches that both changed dvc.lock."""
    command = ["git", "rev-parse", "HEAD"]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    for branch in ("other", "main"):
        git("checkout", "-q", "-B", branch, first)
        write("dvc.lock", LOCK.replace("0123", branch))
        git("commit", "-qam", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "-q", "other")


def locks(pid: int) -> None:
    """Write DVC's lock table as a killed DVC of that PID leaves it; DVC's schema checks it."""
    entry = {"pid": pid, "cmd": "dvc repro"}
    write(RWLOCK, json.dumps(SCHEMA({"write": {"/a": entry}, "read": {"/b": [entry]}})))


def link_out() -> None:
    """Replace the data with a link out of the project."""
    shutil.rmtree("data/FashionMNIST")
    Path("data/FashionMNIST").symlink_to("/")


# ---- DVC and the data ----

RESTORE = "git checkout HEAD -- dvc.lock"
REMEASURE = "invoke remeasure --stage fetch"
BRING = (
    "t10k-labels-idx1-ubyte.gz to data/FashionMNIST/raw/, airfoil_self_noise.dat to data/airfoil/"
)
STATES = {
    # check, setup, level and exit code, words of the line, fix
    "merged": (doctor.merge, conflict, "FAIL", 4, "dvc.lock, one of 1", "git checkout --ours dvc"),
    "rwlock": (doctor.dvc_busy, overwrite(RWLOCK, "a{"), "FAIL", 4, "rwlock", doctor.FIX),
    "killed DVC": (doctor.dvc_busy, lambda: locks(DEAD), "warn", 4, str(DEAD), doctor.FIX),
    "no data": (doctor.data, delete(SOURCE), "note", 4, "no data", "invoke repro --stage fetch"),
    "damaged labels": (doctor.data, overwrite(LABELS, "no"), "FAIL", 3, str(LABELS), ""),
    "damaged source": (doctor.data, overwrite(SOURCE, "{"), "FAIL", 3, SOURCE, ""),
    "link": (doctor.data, link_out, "FAIL", 3, "a link to ", ""),
    "synthetic": (doctor.data, lambda: own_data("synthetic"), "warn", 4, BRING, REMEASURE),
}


@pytest.mark.parametrize("name", STATES)
def test_each_state_is_named_and_fixed(installed, name):
    check, plant, level, code, words, fix = STATES[name]
    assert wrong(check) == []
    plant()
    finding = only(check)
    assert (finding.level, finding.exit_code) == (level, code)
    assert words in finding.text and finding.fix.startswith(fix)
    assert (finding.repair is not None) == (fix == doctor.FIX)
    if finding.repair:
        finding.repair()
        assert wrong(check) == []


def test_git_variables_that_lead_elsewhere_are_named(installed):
    """The lab ignores them, but the printed remedies are git commands for the same shell."""
    program = "from lab.tools import doctor; print([check.fix for check in doctor.merge()])"
    ended = python("-c", program, GIT_DIR="/nowhere", OMP_PLACES="cores")
    assert (ended.stdout, ended.stderr) == ("['unset GIT_DIR']\n", "")


CONFIG = Path(".dvc/config.local")
DVC_STATES = {
    # setup, level, words of the line, fix
    "dvc.yaml": (overwrite("dvc.yaml", "stages: ["), "FAIL", "in line 2", ""),
    "a merge": (conflict, "FAIL", "dvc.lock' is invalid (possible merge conflict", RESTORE),
    "half a config": (overwrite(CONFIG, "[cache\n dir"), "FAIL", "config file", "head .dvc/"),
    "an unknown key": (overwrite(CONFIG, "[cach]\n dir = a"), "FAIL", "cach", "head .dvc/config"),
    "no cache": (
        overwrite(CONFIG, "[cache]\n dir = /proc/none"),
        *("FAIL", "/proc cannot be written to (", "dvc cache dir --local --unset"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DVC_STATES)
def test_files_that_dvc_cannot_use_are_reported_in_its_own_words(installed, monkeypatch, name):
    write(".dvc/config", "")
    write("dvc.yaml", "stages: {a: {cmd: a, outs: [a/1]}}")
    delete("dvc.lock")()
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    assert wrong(doctor.dvc) == [], "`invoke repro` does without it"
    plant, level, words, fix = DVC_STATES[name]
    plant()
    finding = only(doctor.dvc)
    assert finding.level == level and words in finding.text and finding.fix.startswith(fix)


@pytest.mark.slow
def test_another_users_files_are_reported(installed, monkeypatch):
    write(".dvc/config", "")
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    files = only(doctor.dvc)
    assert "another user's" in files.text and files.fix.startswith("sudo chown -R")
    write("tmp/dvc", "no folder, as /var/tmp/dvc may be none to write to")
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(Path("tmp/dvc").absolute()))
    assert only(doctor.dvc).fix.startswith("export DVC_SITE_CACHE_DIR=")


@pytest.mark.parametrize("state", ["zombie", "another program", "running"])
def test_only_a_running_dvc_keeps_its_lock(installed, state):
    program = [sys.executable, "-c", "" if state == "zombie" else "import time; time.sleep(60)"]
    with subprocess.Popen(program + ["dvc"] * (state == "running")) as process:
        try:
            if state == "zombie":  # it has ended, and nobody has waited for it
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            else:  # it has no command line until it has started
                while not psutil.Process(process.pid).cmdline():
                    time.sleep(0.01)
            locks(process.pid)
            finding = only(doctor.dvc_busy)
            assert clear_stale_dvc_locks() == (finding.repair is not None) == (state != "running")
            assert RWLOCK.exists() == (state == "running")
        finally:
            process.kill()


# ---- Python and packages ----


@pytest.mark.parametrize(
    ("torch", "needed", "words"),
    [
        (None, "torch", "torch is missing"),
        ("2.5.0", "torch", "torch 2.5.0 is not "),
        # from the metadata of torchvision 0.28.0, 0.27.0, 0.29.2 and 0.29.1
        ("2.13.0+cpu", "torch==2.13.0", ""),
        ("2.13.0+cpu", "torch==2.12.0", "torch 2.13.0+cpu is not ==2.12.0"),
        ("2.15.0+cu132", "torch>=2.14.0", ""),
        ("2.13.0", "torch>=2.14.0", "torch 2.13.0 is not >=2.14.0"),
    ],
)
def test_wrong_packages_are_named(installed, monkeypatch, torch, needed, words):
    real = doctor.version

    def version(name: str) -> str:
        if name == "torch" and torch is None:
            raise doctor.PackageNotFoundError(name)
        return torch if name == "torch" else real(name)

    monkeypatch.setattr(doctor, "version", version)
    monkeypatch.setattr(doctor, "requires", lambda name: ["numpy", needed, "pillow!=8.3.*,>=5.3.0"])
    found = wrong(doctor.packages)
    assert len(found) == bool(words)
    assert all(words in each.text and "pip install" in each.fix for each in found)


def test_wrong_python_is_named(monkeypatch, tmp_path):
    own = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", own)
    assert wrong(doctor.python) == []
    monkeypatch.setenv("PATH", str(tmp_path))
    assert own in only(doctor.python).fix
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    assert (only(doctor.python).level, only(doctor.python).exit_code) == ("FAIL", 4)


@pytest.mark.slow
def test_without_packages_the_doctor_says_so(installed):
    """Python runs without site-packages; torch is tried in a separate process, which has them."""
    program = "import sys; from lab.tools.doctor import doctor; sys.exit(doctor())"
    result = python("-S", "-c", program)
    assert (result.returncode, result.stderr) == (4, "")
    lines = result.stdout.splitlines()
    assert any(line.startswith("FAIL  packages: ") and "pip install" in line for line in lines)
    assert any(line.startswith("ok    torch: torch 2.") for line in lines)


# ---- GPUs ----


@pytest.mark.parametrize(
    ("script", "level", "words", "fix"),
    [
        ("1, Exclusive_Process, 0, 0, 9, 0x1", "FAIL", "GPU 1 ", "sudo nvidia-smi -i 1 -c DEFAULT"),
        ("0, Default, 0, 72000, 143771, 0x1", "warn", "70.3 of 140.4 GiB", "nvidia-smi"),
        ("0, Default, 98, 520, 143771, 0x1", "warn", "98 %", "nvidia-smi"),
        ("0, Default, 0, 520, 143771, 0x0000000000000113", "", "", ""),
        ("0, Default, [N/A], [N/A], [N/A], [Not Supported]", "", "", ""),
        ("Driver/library version mismatch; exit 18", "warn", "mismatch", "sudo reboot"),
        ("No devices were found; exit 6", "warn", "No devices", "nvidia-smi"),
    ],
    ids=["exclusive", "full", "busy", "idle", "part of one", "updated", "none"],
)
def test_gpu_state_is_named(fake_nvidia_smi, script, level, words, fix):
    said, _, end = script.partition("; ")
    fake_nvidia_smi(f"echo '{said}'; {end}")
    found = wrong(doctor.gpus)
    assert [each.level for each in found] == [level] * bool(level)
    assert all(words in each.text and each.fix.startswith(fix) for each in found)


NVML = {"cap": 0x4, "hardware": 0x8, "software heat": 0x20, "heat": 0x40, "power brake": 0x80}


@pytest.mark.parametrize("reason", NVML)
def test_throttling_of_a_gpu_by_power_or_heat_is_named(fake_nvidia_smi, reason):
    fake_nvidia_smi(f"echo '0, Default, 0, 0, 143771, {NVML[reason]:#018x}'")
    finding = only(doctor.gpus)
    assert finding.level == "warn" and "throttled" in finding.text
    assert finding.fix.startswith("nvidia-smi -i 0")


def test_a_hanging_driver_is_named(fake_nvidia_smi, monkeypatch):
    fake_nvidia_smi("exec sleep 60")
    monkeypatch.setattr(driver.query, "__kwdefaults__", {"seconds": 0.1})
    assert only(doctor.gpus).fix == "sudo reboot"


STEP = "print('copying from cuda:0 to cuda:1', flush=True); "


@pytest.mark.parametrize(
    ("program", "level", "words", "fix"),
    [
        (STEP + "import time; time.sleep(60)", "FAIL", "does not end", "sudo dmesg"),
        (STEP + "import os; os.abort()", "FAIL", signal.SIGABRT.name, "sudo dmesg"),
        (STEP + "raise SystemExit('odd')", "FAIL", "odd", "sudo dmesg"),
        ("raise SystemExit('libc')", "FAIL", "(libc), importing torch", doctor.INSTALL),
        (STEP + "raise SystemExit('ERROR: GPU 1; do it')", "FAIL", "GPU 1; do it", ""),
        ("print('torch 2.13.0+cpu, 0 CUDA GPU(s)')", "warn", "builds for CUDA", "nvidia-smi"),
        ("print('torch 2.13.0, 2 CUDA GPU(s)')", "ok", "2 CUDA GPU(s)", ""),
    ],
)
def test_the_outcome_of_trying_torch_is_reported(
    fake_nvidia_smi, monkeypatch, program, level, words, fix
):
    fake_nvidia_smi("exit 0")
    monkeypatch.setattr(doctor, "TRY_TORCH", ("-c", program))
    monkeypatch.setattr(doctor, "TORCH_TIMEOUT_S", 1 if "sleep" in program else 60)
    [finding] = run_check(doctor.torch)
    assert finding.level == level
    assert words in finding.text and finding.fix.startswith(fix)


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
