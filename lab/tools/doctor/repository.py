"""Git, and whether this is a whole copy of the project that this user may write to."""

import os
import pwd
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lab.tools.doctor.finding import Finding, fail, note, ok, some, warn

UNDERWAY = {  # what git leaves while something is underway: how to give it up
    "MERGE_HEAD": "git merge --abort",
    "rebase-merge": "git rebase --abort",
    "rebase-apply": "git rebase --abort",
    "CHERRY_PICK_HEAD": "git cherry-pick --abort",
    "REVERT_HEAD": "git revert --abort",
    "BISECT_LOG": "git bisect reset",
}
ESSENTIAL = ("dvc.yaml", "params.yaml", "pyproject.toml", "profiles/laptop.yaml", ".dvc/config")
MADE = ("reports/", "data/", "models/")  # by stages; what lacks there is no damage to the copy
WRITTEN = (".dvc", ".lab", "data", "models", "reports")  # with all folders below them
WRITTEN_IN_PLACE = ("dvc.lock", "params.yaml", ".dvc/tmp/lock", ".dvc/tmp/rwlock")


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    """Git's answer, in English."""
    return subprocess.run(
        ["git", *words],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=os.environ | {"LC_ALL": "C"},
    )


def git() -> Iterator[Finding]:
    """Git is installed, this is a repository, and nothing is underway in it."""
    if shutil.which("git") is None:
        yield fail("git is not installed; DVC compares and records through it", "apt install git")
        return
    folder = _git("rev-parse", "--absolute-git-dir")
    if folder.returncode:
        yield _no_repository(folder.stderr)
        return
    commit = _git("rev-parse", "--short", "--verify", "HEAD")
    if commit.returncode:
        yield warn("no commit yet: `invoke compare` has nothing to compare with", "git commit")
    else:
        yield ok(f"at commit {commit.stdout.strip()}")
    yield from _underway(Path(folder.stdout.strip()))
    if _git("symbolic-ref", "-q", "HEAD").returncode and commit.returncode == 0:
        yield note("HEAD is detached: commits made here belong to no branch", "git switch -c NAME")
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() == "true":
        yield note(
            "a shallow clone: older commits cannot be compared with", "git fetch --unshallow"
        )


def _no_repository(said: str) -> Finding:
    here = shlex.quote(str(Path.cwd()))
    if "dubious ownership" in said:
        return fail(
            f"git does not trust {here}, which is another user's",
            f"git config --global --add safe.directory {here}",
        )
    config = Path(".dvc/config.local"), Path(".dvc/config")
    if any(re.search(r"no_scm\s*=\s*true", _text(path), re.IGNORECASE) for path in config):
        return note("no git repository: there are no commits to compare with")
    reason = (said.strip().splitlines() or ["no reason given"])[0]
    return fail(
        f"{reason}; clone the project rather than unpack it, or have DVC do without git",
        "dvc config --local core.no_scm true",
    )


def _underway(folder: Path) -> Iterator[Finding]:
    """What a person, or a git that was killed, left half done."""
    commands = [command for name, command in UNDERWAY.items() if (folder / name).exists()]
    unmerged = sorted({line.split("\t")[1] for line in _git("ls-files", "-u").stdout.splitlines()})
    if unmerged:
        command = commands[0] if commands else f"git checkout HEAD -- {shlex.join(unmerged)}"
        yield fail(f"git has both sides of {some(unmerged)}; settle them, or give it up", command)
    elif commands:
        yield note(f"git is in the midst of something that `{commands[0]}` gives up")
    if (lock := folder / "index.lock").exists():
        yield warn(
            "a git left its lock; if none runs now, delete it", f"rm {shlex.quote(str(lock))}"
        )


def files() -> Iterator[Finding]:
    """All files of the project are here, and none is empty that has a content in git."""
    listed = _git("ls-files", "-z") if shutil.which("git") else None
    names = listed.stdout.split("\0")[:-1] if listed and listed.returncode == 0 else []
    own = [name for name in names or _essential() if not name.startswith(MADE)]
    lost = [name for name in own if not os.path.lexists(name)]
    if lost:
        yield fail(
            f"{len(lost)} file(s) of the project are missing: {some(lost)}",
            _bring_back(lost) if names else "git clone URL",
        )
    empty = [name for name in own if Path(name).is_file() and Path(name).stat().st_size == 0]
    if names and empty:
        empty = _git("diff", "--name-only", "-z", "--", *empty).stdout.split("\0")[:-1]
    if empty:
        yield fail(
            f"{len(empty)} file(s) of the project are empty: {some(empty)}",
            f"git checkout -- {shlex.join(empty)}" if names else "git clone URL",
        )
    results = [name for name in names if name.startswith(MADE) and not os.path.lexists(name)]
    if results:
        yield warn(f"{len(results)} result(s) are missing: {some(results)}", "invoke repro")
    if not (lost or empty or results):
        yield ok(f"all {len(own)} files are here")


def _essential() -> list[str]:
    """What must be here, as far as the project itself tells without git."""
    named = re.findall(r"\b(?:lab|stages)/[\w/]+\.\w+", _text(Path("dvc.yaml")))
    return sorted({*ESSENTIAL, *named})


def _bring_back(lost: list[str]) -> str:
    """The command that brings back what is missing, and touches nothing else."""
    if len(lost) <= 3:
        return f"git checkout -- {shlex.join(lost)}"
    return "git ls-files -z --deleted -- . ':!reports' | xargs -0 git checkout --"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def access() -> Iterator[Finding]:
    """This user may write where the lab writes."""
    if not hasattr(os, "geteuid"):
        return
    here = Path.cwd()
    refused = [path for path in _written() if not os.access(path, os.W_OK)]
    if not refused:
        if os.geteuid() == 0 and here.stat().st_uid != 0:
            yield note(
                f"you are root, the project is {_user(here.stat().st_uid)}'s, who cannot write to"
                " what you make here"
            )
        return
    mine = [path for path in refused if path.stat().st_uid == os.geteuid()]
    names = some([str(path) for path in mine or refused])
    if os.statvfs(here).f_flag & os.ST_RDONLY:
        yield fail(f"{here} is on a file system that is mounted read-only", "git clone . ~/lab")
    elif mine:
        yield fail(f"{names} cannot be written to, although yours", f"chmod -R u+w {_quoted(here)}")
    else:
        you = _user(os.geteuid())
        owners = sorted({_user(path.stat().st_uid) for path in refused})
        yield fail(
            f"{names} belong to {', '.join(owners)}; you are {you} and cannot write to them",
            f"sudo chown -R {you} {_quoted(here)}",
        )


def _written() -> Iterator[Path]:
    """The folders that commands make files in, and the files that DVC writes in place."""
    for name in (*WRITTEN_IN_PLACE, ".", *WRITTEN):
        if (path := Path(name)).exists():
            yield path
    for top in WRITTEN:
        for folder, below, _ in os.walk(top):
            yield from (Path(folder, name) for name in below)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


CHECKS = (git, files, access)
