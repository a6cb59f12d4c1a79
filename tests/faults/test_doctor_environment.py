"""The doctor for another user, with wrong packages, in half a copy, and with odd variables."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.tools.doctor import environment as module
from lab.tools.doctor.__main__ import checks, findings
from lab.tools.doctor.finding import Finding
from tests.faults.doctor_states import look, obey, write, wrong
from tests.faults.two_stages import environment, run
from tests.helpers import ROOT


def test_a_repository_of_another_user_is_named_with_gits_own_cure(copy, monkeypatch):
    """Git itself takes the owner for another one where this variable is set."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    [finding] = [each for each in wrong("repository") if "does not trust" in each.text]
    assert finding.command == f"git config --global --add safe.directory '{copy}'"
    obey(finding)
    assert wrong("repository") == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root becomes another")
def test_another_user_is_told_who_owns_what(copy):
    """The doctor is imported, then it is another user's process, in a project that root owns."""
    with tempfile.TemporaryDirectory() as place:
        project = Path(place, "project")
        shutil.copytree(copy, project)
        Path(place).chmod(0o755)
        program = (
            "import os, sys\n"
            "from lab.core.process import run\n"
            "from lab.tools.doctor.__main__ import checks, main\n"
            "list(checks())\n"
            "os.setgroups([]), os.setgid(54321), os.setuid(54321)\n"
            "sys.exit(run(main))\n"
        )
        nobody = dict.fromkeys(("USER", "LOGNAME", "LNAME", "USERNAME"), "")
        result = run(sys.executable, "-c", program, cwd=project, HOME="/nonexistent", **nobody)
    assert result.returncode == 4, result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    owners = r"dvc\.lock, params\.yaml.* belong to root; you are 54321 and cannot write to them"
    assert re.search(f"FAIL  access: {owners}; `sudo chown -R 54321 {project}`", result.stdout)
    assert "user 54321 has no name, and DVC asks for one; `export USER=lab`" in result.stdout
    assert f"git config --global --add safe.directory {project}" in result.stderr


def test_a_wrong_torch_is_named_with_the_line_that_installs_the_right_one(copy, tmp_path):
    """Packages that say what they are not, in front of the real ones, and another Python."""
    for name, version in (("torch", "2.5.0"), ("psutil", "1.0")):
        write(
            f"{tmp_path}/{name}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}"
        )
    broken = "raise ImportError('torch/lib/libtorch.so: undefined symbol: _ZN3c105Error')"
    write(f"{tmp_path}/torch/__init__.py", broken)
    old = "import sys, typing_extensions; sys.version_info = (3, 10, 1, 'final', 0)"
    write(f"{tmp_path}/sitecustomize.py", old)  # the import is written for the real one
    write("dvc.yaml", Path("dvc.yaml").read_text().replace("cmd: python", "cmd: 3 # "))
    result = run(
        *(sys.executable, "-m", "lab.tools.doctor"), cwd=copy, PYTHONPATH=f"{tmp_path}:{ROOT}"
    )
    assert result.returncode == 4
    install = f"`{sys.executable} -m pip install -e . -c constraints.txt`"
    lines = result.stderr.splitlines()
    assert "the lab needs 3.11, 3.12 or 3.13; `python3.13 -m venv .venv" in lines[0]
    assert re.search(r"torch\S* \(found 2\.5\.0\)", lines[1]) and lines[1].endswith(install)
    assert "psutil>=6 (found 1.0)" in lines[1]
    assert "undefined symbol: _ZN3c105Error" in lines[2] and lines[2].endswith(install)
    assert lines[3].startswith("ERROR: DVC does not work here: './dvc.yaml' validation failed.")
    assert all(line.startswith("ERROR: ") for line in lines)


def test_what_does_not_import_ends_a_command_with_the_line_that_installs_it(copy, tmp_path):
    (tmp_path / "numpy").mkdir()
    problem = "libblas.so.3: cannot open shared object file"
    for name in ("ImportError", "OSError"):
        (tmp_path / "numpy/__init__.py").write_text(f"raise {name}('{problem}')")
        path = f"{tmp_path}:{ROOT}"
        result = run(sys.executable, "-m", "stages.landscapes", cwd=copy, PYTHONPATH=path)
        install = f"{sys.executable} -m pip install -e . -c constraints.txt"
        assert (result.returncode, result.stderr) == (4, f"ERROR: {problem}; {install}\n")


def test_half_a_copy_of_the_project_is_told_what_is_missing(tmp_path):
    """A copy that broke off: no git, no settings, no profiles, and a file that all else imports."""
    for name in ("lab", "stages"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dvc.yaml", "params.yaml", "pyproject.toml", "tasks.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "lab/core/errors.py").unlink()
    write(f"{tmp_path}/absent/torch/__init__.py", "raise ImportError('which saves seconds here')")
    result = run(*(sys.executable, "-m", "invoke", "doctor"), cwd=tmp_path, PYTHONPATH="absent")
    assert result.returncode == 4, result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    lines = result.stdout.splitlines()
    [line] = [line for line in lines if line.startswith("FAIL  files:")]
    assert "missing: .dvc/config, " in line and line.endswith("; `git clone URL`")
    assert any(
        "lab/core/errors.py is missing; `git checkout -- lab/core/" in line for line in lines
    )


def test_what_the_environment_changes_is_a_remark(copy, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("LAB_DEBUG", "LAB_FAIL_POINT", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "1")
    assert {f.command for f in quick("variables") if f.level == "note"} == {
        "unset LAB_DEBUG",
        "unset LAB_FAIL_POINT",
        "unset OMP_NUM_THREADS",
        "unset CUDA_VISIBLE_DEVICES",
        "unset PYTHONPATH",
    }
    [finding] = quick("interpreter")
    assert finding.command.startswith("source ") and finding.level == "warn"
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("SHELL", "/usr/sbin/nologin")
    commands = {f.command for f in (*quick("variables"), *quick("user"))}
    assert {
        "unset RANK WORLD_SIZE",
        "unset GIT_DIR GIT_WORK_TREE",
        "export SHELL=/bin/sh",
    } <= commands


VERSIONS = {"torch": "2.13.0", "torchvision": "0.28.0", "operators": True, "cuda": "13.0"}
TOO_OLD = "torch 2.13.0, built for CUDA 13.0, can use no GPU here: too old; update the driver"


@pytest.mark.parametrize(
    ("said", "end", "level", "line"),
    [
        ([], "time.sleep(60)", "FAIL", r"importing torch does not end within 1 s; `.*-m pip"),
        (
            [VERSIONS],
            "time.sleep(60)",
            "FAIL",
            r"torch 2\.13\.0 asks for GPUs and does not end within 1 s; `sudo reboot`",
        ),
        ([VERSIONS], "os.abort()", "FAIL", "asks for GPUs and ends in SIGABRT; `sudo reboot`"),
        ([VERSIONS, {"gpus": 0, "problem": TOO_OLD}], "", "FAIL", TOO_OLD),
        (
            [VERSIONS | {"torch": "2.13.0+cpu", "cuda": None}, {"gpus": 0}],
            "",
            "warn",
            "there is an NVIDIA driver, but this torch uses no GPU: it is a build for the processor"
            " alone; pytorch.org, “Start locally”, has others; `nvidia-smi`",
        ),
        ([VERSIONS, {"gpus": 0}], "", "warn", "uses no GPU: none is visible to it"),
        ([VERSIONS, {"gpus": 2}], "", "ok", "torch 2.13.0, torchvision 0.28.0, 2 CUDA GPU"),
    ],
    ids=[
        "import hangs",
        "driver hangs",
        "driver crashes",
        "too old",
        "CPU build",
        "hidden",
        "well",
    ],
)
def test_a_torch_without_the_machines_gpus_says_why(
    copy, monkeypatch, tmp_path, said, end, level, line
):
    """Beside a driver, by what a process says that may hang or crash."""
    write("programs/nvidia-smi", "#!/bin/sh\n")
    Path("programs/nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(Path("programs").absolute()), prepend=":")
    program = f"import json, os, time\nfor s in {said}: print(json.dumps(s), flush=True)\n{end}"
    monkeypatch.setattr(module, "TORCH_FACTS", (sys.executable, "-c", program))
    monkeypatch.setattr(module, "TORCH_S", 1 if "sleep" in end else 60)
    [finding] = quick("torch_and_torchvision")
    assert finding.level == level
    assert re.search(line, str(finding)), finding


def quick(name: str) -> list[Finding]:
    """What one check of the environment finds."""
    return [f for found, check in checks(["environment"]) if found == name for f in findings(check)]


def test_a_clock_that_is_far_off_is_a_warning(copy):
    assert quick("clock") == []
    os.utime("params.yaml", (time.time(), time.time() + 30 * 86_400))
    [finding] = quick("clock")
    assert "params.yaml was written 30 days from now" in finding.text
    assert finding.level == "warn"


SERVER = """\
import subprocess, sys
subprocess.run([sys.executable, "-u", "-m", "http.server", "0", "--bind", *sys.argv[1:]])
"""


@contextmanager
def below_a_process_of_the_lab(*words: str) -> Iterator[str]:
    """Run a module of this folder in a child of the lab's; what it prints first."""
    with subprocess.Popen(
        [sys.executable, "-m", "lab.machine.child", *words],
        env=environment(LAB_LAUNCHER_PID=str(os.getpid())),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_who_listens_to_other_machines_is_named(copy):
    write("server.py", SERVER)
    for address, exposed in (("127.0.0.1", False), ("0.0.0.0", True), ("::", True)):  # noqa: S104
        with below_a_process_of_the_lab("server", address) as said:
            [port] = re.findall(r"port (\d+)", said)
            found = wrong("processes")
            assert exposed or re.search(r"run here: \d+, \d+;", look("processes")[0].text)
            assert [f"{address}:{port}" in f.text for f in found] == [True] * exposed
            if exposed:
                obey(found[0])
                assert wrong("processes") == []
