"""dvc.lock: which results of which stage DVC has written down, and whether that is whole."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from lab.core.errors import LabError
from lab.core.files import MOST_BYTES, read_regular, write_atomically
from lab.core.params import PARAMS_FILE, read_yaml
from lab.tools.doctor.finding import Finding, fail, note, ok, some, warn
from lab.tools.dvc_words import LAST_GOOD, LOCK_FILE

DAMAGED = Path(".lab/dvc.lock.damaged")  # where `--fix` puts what it replaces
PIPELINE_FILE = Path("dvc.yaml")
MOST_BRACKETS = 1000  # within each other they take seconds to read


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class Locked(_Part):
    """A file or folder as it was when its stage ran."""

    path: str
    md5: str
    size: int


class LockedStage(_Part):
    """A stage as it ran."""

    cmd: str | list[str]
    deps: list[Locked] = []
    outs: list[Locked] = Field(min_length=1)  # a stage without a result is not one of ours


class LockFile(_Part):
    """What `dvc repro` writes down."""

    version: Literal["2.0"] = Field(alias="schema")
    stages: dict[str, LockedStage]


@lru_cache(maxsize=1)  # of 140 kB: a second
def parse(text: str) -> LockFile:
    """The content of a dvc.lock.

    Raises:
        ValueError: it is no whole one; the message says why in a line.
    """
    if text.count("[") + text.count("{") > MOST_BRACKETS:
        raise ValueError(f"over {MOST_BRACKETS} brackets, of which DVC writes hardly any")
    try:
        return LockFile.model_validate(YAML(typ="safe", pure=True).load(text))
    except ValidationError as errors:
        first = errors.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        raise ValueError(f"{where[:100]!r}: {first['msg']}") from None
    except MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{line}{error.problem}") from None
    except (YAMLError, RecursionError, LookupError, ArithmeticError) as error:
        raise ValueError(f"no YAML: {type(error).__name__}") from None


def read() -> LockFile | None:
    """dvc.lock, if it is there and whole."""
    try:
        return parse(_text(LOCK_FILE))
    except (OSError, ValueError):
        return None


def lock_file() -> Iterator[Finding]:
    """dvc.lock is whole, and knows the results that are here."""
    if not LOCK_FILE.exists():
        yield note(f"no {LOCK_FILE}: nothing has run here yet")
        return
    try:
        text = _text(LOCK_FILE)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        bring_back = f"rm -r {LOCK_FILE} && git checkout {LOCK_FILE}"
        yield fail(f"{LOCK_FILE} cannot be read ({reason})", bring_back)
        return
    try:
        lock = parse(text)
    except ValueError as error:
        yield _damaged(text, str(error))
        return
    known = _last_good(), _committed()
    is_part = text not in known and any(other.startswith(text) for other in known)
    if is_part or not text.endswith("\n"):
        yield _damaged(text, "its end is missing")
        return
    yield from _compared(lock)


def _damaged(text: str, why: str) -> Finding:
    what = f"{LOCK_FILE} is damaged ({why})"
    if re.search(r"^(<<<<<<<|>>>>>>>) ", text, re.MULTILINE):
        what = f"{LOCK_FILE} has the marks of a merge, the lines of both sides between them"
    if _is_whole(_last_good()):
        return fail(what, f"cp {LAST_GOOD} {LOCK_FILE}", mend=_mend)
    if not _is_whole(_committed()):
        return fail(
            f"{what}, and git has no whole one; all stages would run again", f"rm {LOCK_FILE}"
        )
    unmerged = _git("ls-files", "-u", "--", str(LOCK_FILE))
    return fail(what, f"git checkout {'HEAD -- ' if unmerged else ''}{LOCK_FILE}", mend=_mend)


def _mend() -> str:
    """Bring back the last whole one, and keep the damaged one."""
    source, text = f"{LAST_GOOD}", _last_good()
    if not _is_whole(text):
        source, text = "the last commit", _committed()
    if LOCK_FILE.exists():
        write_atomically(DAMAGED, LOCK_FILE.read_bytes())
    write_atomically(LOCK_FILE, text.encode())
    return f"{LOCK_FILE} is the one of {source} again; the damaged one is {DAMAGED}"


def _compared(lock: LockFile) -> Iterator[Finding]:
    """What dvc.lock lacks of the stages in dvc.yaml."""
    pipeline = section(PIPELINE_FILE, "stages")
    differ, unknown = [], []
    for name, stage in lock.stages.items():
        base, _, run = name.partition("@")
        if base not in pipeline:
            unknown.append(name)
        elif {out.path for out in stage.outs} != outputs(pipeline[base], run):
            differ.append(name)
    forgotten = [name for name, stage in pipeline.items() if _has_results(name, stage, lock)]
    if unknown:
        yield warn(
            f"{LOCK_FILE} knows stages that {PIPELINE_FILE} does not: {some(unknown)}",
            f"git diff {PIPELINE_FILE}",
        )
    for names, what in ((differ, "lists other outputs for"), (forgotten, "lacks")):
        if names:
            yield warn(
                f"{LOCK_FILE} {what} {some(names)}: to DVC that is not done, and runs again",
                f"invoke repro --stage {names[0]}" if len(names) == 1 else "invoke repro",
            )
    if not (unknown or differ or forgotten):
        yield ok(f"{LOCK_FILE} has {len(lock.stages)} stages")


def stage_names() -> set[str]:
    """The stages that there are, one for each training run."""
    runs = section(PARAMS_FILE, "train", "runs")
    found = set()
    for name, stage in section(PIPELINE_FILE, "stages").items():
        found |= {f"{name}@{run}" for run in runs} if "matrix" in stage else {name}
    return found


def section(path: Path, *keys: str) -> dict[str, Any]:
    """A part of a YAML file; empty if it cannot be read, which another check tells of."""
    found = _document(path.absolute(), path.stat().st_mtime_ns if path.exists() else 0)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


@lru_cache(maxsize=2)  # dvc.yaml and params.yaml, as they were then
def _document(path: Path, changed_ns: int) -> Any:
    try:
        return read_yaml(path)
    except LabError:
        return {}


def outputs(stage: Mapping[str, Any], run: str) -> set[str]:
    """The paths that a stage of dvc.yaml makes; `run` is what its matrix names."""
    entries = [entry for kind in ("outs", "metrics", "plots") for entry in stage.get(kind, [])]
    paths = [entry if isinstance(entry, str) else next(iter(entry)) for entry in entries]
    return {path.replace("${item.run}", run) for path in paths}


def _has_results(name: str, stage: Mapping[str, Any], lock: LockFile) -> bool:
    """Whether results of a stage are here that dvc.lock does not know."""
    return (
        "matrix" not in stage
        and name not in lock.stages
        and all(Path(path).exists() for path in outputs(stage, ""))
    )


def _is_whole(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _last_good() -> str:
    return _text(LAST_GOOD) if LAST_GOOD.is_file() else ""


def _committed() -> str:
    """The dvc.lock of the last commit, empty if there is none."""
    return _git("show", f"HEAD:./{LOCK_FILE}")


def _git(*words: str) -> str:
    """What git answers, nothing if it does not."""
    try:
        result = subprocess.run(["git", *words], capture_output=True, check=False)
    except OSError:
        return ""
    return "" if result.returncode else result.stdout.decode(errors="replace")


def _text(path: Path) -> str:
    """The text of a file.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is no regular file, or longer than ours are.
    """
    return read_regular(path, MOST_BYTES).decode(errors="replace")


CHECKS = (lock_file,)
