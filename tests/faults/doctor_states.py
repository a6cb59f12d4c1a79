"""The states that the doctor must name: how each comes about, its words and its command."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from lab.tools.doctor.__main__ import checks, findings
from lab.tools.doctor.finding import FIX, Finding
from tests.faults.two_stages import METRICS, TABLE, git, run

FOUR_FILES = ("pyproject.toml", "params.yaml", ".dvcignore", "dvc.yaml")
DEAD = 2**22 + 1  # no process has so high a number


def look(*rooms: str) -> list[Finding]:
    """What the doctor finds, without the check that starts DVC."""
    return [
        finding
        for name, check in checks(rooms)
        if name != "dvc_itself"
        for finding in findings(check)
    ]


def wrong(*rooms: str) -> list[Finding]:
    """What it finds that is not well."""
    return [finding for finding in look(*rooms) if finding.level in ("warn", "FAIL")]


def obey(finding: Finding) -> None:
    """Run the command that a finding names, as it stands."""
    command = finding.command or re.findall(r"`([^`]+)`", finding.text)[-1]
    if command == FIX or command.startswith("dvc checkout"):  # which `--fix` does, too
        assert finding.mend is not None
        finding.mend()
        return
    result = run("bash", "-c", command, cwd=Path.cwd())
    assert result.returncode == 0, f"{command}: {result.stderr}"


def lock_text() -> str:
    return Path("dvc.lock").read_text()


def write(path: str, content: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content)


def busy(pid: int) -> None:
    write(".dvc/tmp/rwlock", json.dumps({"write": {"/data": {"pid": pid, "cmd": "dvc repro"}}}))


def conflict(file: str) -> None:
    """A merge of two sides that both changed a file."""
    text = Path(file).read_text()
    git("checkout", "-qb", "other", cwd=Path())
    for side in ("theirs", "ours"):
        if side == "ours":
            git("checkout", "-q", "-", cwd=Path())
        write(file, text.replace("schema", f"# {side}\nschema", 1))
        git("commit", "-qam", side, cwd=Path())
    merge = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q", "other"]
    assert subprocess.run(merge, capture_output=True, check=False).returncode == 1


def damage(path: Path) -> None:
    """Change a byte, as a disk does, of a file that stays read-only."""
    content = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    path.chmod(0o444)


def kept(path: Path) -> Path:
    """DVC's copy of a file."""
    content = path.read_bytes()
    return next(
        p for p in Path(".dvc/cache/files").rglob("*") if p.is_file() and p.read_bytes() == content
    )


def good_lock_aside() -> None:
    shutil.copy("dvc.lock", "good")
    write(".lab/dvc.lock.good", lock_text())
    write("dvc.lock", "stages: [")
    git("commit", "-qam", "a broken one", cwd=Path())


STATES: dict[str, tuple[str, Callable[[], object], str, int, str]] = {
    # the room that looks, how it comes about, words of the line, exit code, its command
    "L1 rwlock": (
        "dvc_state",
        lambda: write(".dvc/tmp/rwlock", "garbage{"),
        "rwlock is damaged",
        4,
        "rm .dvc/tmp/rwlock",
    ),
    "L1 rwlock of another form": (
        "dvc_state",
        lambda: write(".dvc/tmp/rwlock", '{"write": {"/data": 3}}'),
        "rwlock is damaged",
        4,
        "rm .dvc/tmp/rwlock",
    ),
    "L1 rwlock with more than DVC writes": (
        "dvc_state",
        lambda: write(".dvc/tmp/rwlock", '{"held": {}}'),
        "rwlock is damaged",
        4,
        "rm .dvc/tmp/rwlock",
    ),
    "D3 dead": ("dvc_state", lambda: busy(DEAD), "which is gone", 0, FIX),
    "D3 reused": ("dvc_state", lambda: busy(os.getpid()), "which is gone", 0, FIX),
    "L1 lock of another form": (
        "lock_file",
        lambda: write("dvc.lock", "schema: '2.0'\nstages: [1, 2]\n"),
        "dvc.lock is damaged ('stages'",
        4,
        "git checkout dvc.lock",
    ),
    "L1 half a lock": (
        "lock_file",
        lambda: write("dvc.lock", lock_text().partition("  landscapes:")[0]),
        "its end is missing",
        4,
        "git checkout dvc.lock",
    ),
    "D5 truncated": (
        "lock_file",
        lambda: write("dvc.lock", lock_text()[:333]),
        "dvc.lock is damaged",
        4,
        "git checkout dvc.lock",
    ),
    "D5 empty": (
        "lock_file",
        lambda: write("dvc.lock", ""),
        "dvc.lock is damaged",
        4,
        "git checkout dvc.lock",
    ),
    "D5 merge": (
        "lock_file",
        lambda: conflict("dvc.lock"),
        "marks of a merge",
        4,
        "git checkout HEAD -- dvc.lock",
    ),
    "D5 a copy is better than git's": (
        "lock_file",
        good_lock_aside,
        "dvc.lock is damaged",
        4,
        "cp .lab/dvc.lock.good dvc.lock",
    ),
    "L1 a stage without its results": (
        "lock_file",
        lambda: write("dvc.lock", lock_text().replace("rows.csv", "other.csv")),
        "other outputs for landscapes",
        0,
        "invoke repro --stage landscapes",
    ),
    "half a copy: file": (
        "repository",
        lambda: Path("pyproject.toml").unlink(),
        "missing: pyproject.toml",
        4,
        "git checkout -- pyproject.toml",
    ),
    "half a copy: many files": (
        "repository",
        lambda: [
            Path(n).unlink() for n in ("pyproject.toml", "params.yaml", ".dvcignore", "dvc.yaml")
        ],
        "4 file(s) of the project are missing",
        4,
        "git ls-files -z --deleted -- . ':!reports' | xargs -0 git checkout --",
    ),
    "half a copy: empty file": (
        "repository",
        lambda: write("params.yaml", ""),
        "empty: params.yaml",
        4,
        "git checkout -- params.yaml",
    ),
    "half a copy: .dvc": (
        "dvc_state",
        lambda: shutil.rmtree(".dvc"),
        ".dvc is missing",
        4,
        "git checkout -- .dvc",
    ),
    "half a copy: .dvc/config": (
        "dvc_state",
        lambda: write(".dvc/config", "[core\n"),
        ".dvc/config cannot be read",
        4,
        "git checkout -- .dvc/config",
    ),
    "D1 no git": (
        "repository",
        lambda: shutil.rmtree(".git"),
        "not a git repository",
        4,
        "dvc config --local core.no_scm true",
    ),
    "a merge underway": (
        "repository",
        lambda: conflict("dvc.lock"),
        "both sides of dvc.lock",
        4,
        "git merge --abort",
    ),
    "a git that was killed": (
        "repository",
        lambda: write(".git/index.lock", ""),
        "a git left its lock",
        0,
        "rm",
    ),
    "data lost": (
        "stored",
        lambda: shutil.rmtree("data/airfoil"),
        "data/airfoil: missing here",
        3,
        "dvc checkout data/airfoil",
    ),
    "M6": (
        "data",
        lambda: write("data/source.json", "{}"),
        "data/source.json",
        3,
        "dvc repro --force fetch",
    ),
    "data changed": ("data", lambda: damage(TABLE), "changed since", 3, "dvc repro --force fetch"),
    "D4": ("stored", lambda: damage(kept(TABLE)), "not what their names say", 3, "rm -f"),
    "results lost": (
        "repository",
        lambda: METRICS.unlink(),
        "1 result(s) are missing",
        0,
        "invoke repro",
    ),
}
