"""DVC and git as they are found: no git, half of it, two at once, damaged copies, odd shells.

What DVC promises is tried on the real one, in a project of two stages; what the lab adds is that
the doctor names the state and that a stage notices damaged data.
"""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.core.params import read_yaml
from tests.faults.doctor_states import damage, kept, look, obey, wrong
from tests.faults.two_stages import METRICS, PIPELINE, TABLE, copy, dvc, environment, git, run
from tests.helpers import ROOT

__all__ = ["copy"]


def forget() -> dict[str, bytes]:
    """Delete what stages made; returns the lock file and results as they were."""
    before = {name: Path(name).read_bytes() for name in ("dvc.lock", str(METRICS), str(TABLE))}
    Path("dvc.lock").unlink()
    for name in ("data", "reports", ".dvc/cache"):
        shutil.rmtree(name, ignore_errors=True)
    return before


def same(before: dict[str, bytes]) -> bool:
    """Whether the lock file, the results and the data are these again."""
    return all(Path(name).read_bytes() == content for name, content in before.items())


def test_a_shallow_clone_with_a_detached_head_and_edits_runs(copy):
    clone = copy.parent / "clone"
    git("clone", "-q", "--depth", "1", copy.as_uri(), str(clone), cwd=copy)
    git("checkout", "-q", "--detach", cwd=clone)
    (clone / "params.yaml").write_text((copy / "params.yaml").read_text() + "# an edit\n")
    result = dvc("repro", cwd=clone)
    assert result.returncode == 0, result.stderr
    assert "Running stage 'fetch'" in result.stdout, "no data travel with a clone"
    assert "'landscapes' didn't change" in result.stdout, "results do, and the data are the same"
    assert git("status", "--short", cwd=clone) == " M params.yaml\n"


def test_without_git_the_pipeline_runs_once_dvc_is_told(copy):
    """By `dvc config --local core.no_scm true`, which the doctor names."""
    shutil.rmtree(".git")
    Path(".dvc/config.local").write_text("[core]\n    no_scm = true\n")
    before = forget()
    assert dvc("repro", cwd=copy).returncode == 0
    assert same(before)
    difference = dvc("metrics", "diff", cwd=copy)
    assert difference.returncode == 255
    assert difference.stderr.startswith("ERROR: Only supported for Git repositories.")
    assert len(difference.stderr.splitlines()) == 1


def test_a_second_dvc_is_told_who_works_here_and_the_doctor_says_so_too(copy):
    text = PIPELINE.replace("mkdir -p data", "touch begun && sleep 60 && mkdir -p data")
    Path("dvc.yaml").write_text(text)
    command = [sys.executable, "-m", "dvc", "repro", "fetch"]
    first = subprocess.Popen(
        command,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not Path("begun").exists():
            assert time.monotonic() < deadline and first.poll() is None
            time.sleep(0.05)
        second = dvc("repro", "fetch", cwd=copy)
        assert second.returncode == 255
        assert "is busy, it is being blocked by" in second.stderr
        assert f"(PID {first.pid})" in second.stderr
        [finding] = look("dvc_state")
        assert finding.level == "note"
        assert f"runs here (PID {first.pid})" in finding.text
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    [finding] = look("dvc_state")
    assert "which is gone" in finding.text, "and its entry stays where it was"
    obey(finding)
    assert look("dvc_state") == []


def test_a_killed_dvc_that_nobody_has_reaped_keeps_no_other_from_working(copy):
    """As where a container's first process reaps none: DVC takes the dead one for a living one."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    worker = {"pid": dead.pid, "cmd": "dvc repro"}
    Path(".dvc/tmp").mkdir(exist_ok=True)
    shutil.copy(ROOT / "tasks.py", copy)
    forget()

    def busy() -> None:
        Path(".dvc/tmp/rwlock").write_text(json.dumps({"write": {str(copy / METRICS): worker}}))

    busy()
    assert f"(PID {dead.pid})" in dvc("repro", cwd=copy).stderr
    busy()
    result = run(sys.executable, "-m", "invoke", "repro", cwd=copy)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "was killed: forgotten, once more" in result.stdout + result.stderr
    dead.wait()


def test_a_damaged_copy_that_dvc_trusts_stops_a_stage_and_is_named(copy):
    whole = TABLE.read_bytes()
    damaged = kept(TABLE)
    damage(damaged)
    shutil.rmtree("data")
    assert dvc("checkout", cwd=copy).returncode == 0
    assert TABLE.read_bytes() != whole, "DVC trusts what is read-only"
    stage = run(sys.executable, "-m", "stages.landscapes", cwd=copy)
    assert stage.returncode == 3
    assert "ERROR: data/airfoil/airfoil_self_noise.dat: changed since it was f" in stage.stderr
    [finding] = wrong("stored")
    assert (finding.command, finding.exit_code) == (f"rm -f {damaged}", 3)
    obey(finding)
    [finding] = look("stored")
    assert finding.command == "invoke repro --stage fetch"
    assert dvc("repro", "fetch", cwd=copy).returncode == 0
    assert TABLE.read_bytes() == whole
    assert look("stored") == []


def test_no_cache_other_file_system_odd_shell_or_language_changes_a_result(copy):
    """All at once: what is equal then depends on none. The new cache is in memory."""
    elsewhere = Path("/dev/shm")  # noqa: S108
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == copy.stat().st_dev:
        pytest.skip("one file system alone")
    shutil.rmtree(".dvc/cache")  # as after a `dvc gc` of another project
    [finding] = look("stored")
    assert "DVC has no copy of what these made" in finding.text
    assert finding.command == "invoke repro --stage fetch"
    cache = elsewhere / f"lab-{os.getpid()}"
    Path(".dvc/config.local").write_text(f"[cache]\n    dir = {cache}\n")
    shell = Path("odd shell")
    shell.write_text('#!/bin/sh\necho "$@" >> shell.log\nexec /bin/sh "$@"\n')
    shell.chmod(0o755)
    odd = {"SHELL": str(shell.absolute()), "LANG": "C", "LC_ALL": "C", "TZ": "Pacific/Apia"}
    before = forget()
    try:
        result = subprocess.run(
            [sys.executable, "-m", "dvc", "repro"],
            env={name: value for name, value in environment(**odd).items() if name != "HOME"},
            capture_output=True,
            text=True,
            check=False,
            umask=0o077,
        )
        assert result.returncode == 0, result.stderr
        assert same(before)
        assert "-m stages.landscapes" in Path("shell.log").read_text()
        assert stat.S_IMODE(METRICS.stat().st_mode) == 0o600
        assert look("stored") == [], "every copy is there, and whole"
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def test_a_stage_that_ends_well_without_its_result_is_named(copy):
    text = PIPELINE.replace("mkdir -p data && cp -R made/. data", "touch something-else")
    Path("dvc.yaml").write_text(text)
    result = dvc("repro", "fetch", cwd=copy)
    assert result.returncode == 255
    assert "failed to reproduce 'fetch': output 'data/FashionMNIST' does not exist" in result.stderr
    assert Path("something-else").exists(), "what a stage makes besides is nobody's business"


def test_plots_are_images_so_that_their_page_asks_nothing_of_a_network():
    """The end-to-end test reads the pages of `dvc plots show` and `diff`: no address in them.

    A plot that DVC draws itself would load vega from elsewhere; one has a template or is an image.
    """
    pipeline = read_yaml(ROOT / "dvc.yaml")
    assert "plots" not in pipeline
    plots = [plot for stage in pipeline["stages"].values() for plot in stage.get("plots", [])]
    assert plots == [{"reports/figures": {"cache": False}}]
    figures = list((ROOT / "reports" / "figures").iterdir())
    assert figures and {path.suffix for path in figures} == {".svg"}
