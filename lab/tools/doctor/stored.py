"""What DVC keeps copies of, data and weights: whether they are here, and their copies whole."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.core.errors import DataError
from lab.tools.doctor import lock_file
from lab.tools.doctor.dvc_state import setting
from lab.tools.doctor.finding import Finding, fail, note, some, warn

FETCH = "fetch"  # the data, which have a check of their own


@dataclass(frozen=True)
class Stored:
    """What a stage made and DVC keeps a copy of; `md5` names the copy."""

    stage: str
    path: Path
    md5: str

    def copies(self) -> list[Path]:
        """The copies that DVC must have of it: of a folder its list, and all files on that.

        Raises:
            ValueError: the list is damaged.
        """
        first = _copy(self.md5)
        if not self.md5.endswith(".dir") or not first.is_file():
            return [first]
        return [first, *(_copy(entry["md5"]) for entry in json.loads(first.read_bytes()))]


def _copy(md5: str) -> Path:
    folder = setting("cache", "dir")
    cache = Path(".dvc", folder) if folder else Path(".dvc/cache")
    return cache / "files" / "md5" / md5[:2] / md5[2:]


def stored() -> list[Stored]:
    """What dvc.lock says that DVC keeps copies of, data and weights, of stages that still exist."""
    lock = lock_file.read()
    if lock is None:
        return []
    stages = lock_file.stage_names()
    return [
        Stored(name, Path(out.path), out.md5)
        for name, stage in lock.stages.items()
        for out in stage.outs
        if name in stages and not out.path.startswith("reports/")
    ]


def copies() -> Iterator[Finding]:
    """DVC's copies are what their names say; DVC itself trusts those that are read-only."""
    damaged, lacking = [], []
    for each in stored():
        try:
            found = each.copies()
        except (ValueError, KeyError, TypeError):
            found = [_copy(each.md5)]
        here = [path for path in found if path.is_file()]
        damaged += [path for path in here if _md5(path) != _name(path)]
        if len(here) < len(found) and each.path.exists():
            lacking.append(each)
    if damaged:
        names = [str(path) for path in dict.fromkeys(damaged)]
        yield fail(
            f"{len(names)} of DVC's copies are not what their names say: {some(names, 1)}",
            f"rm -f {' '.join(names)}",
            exit_code=DataError.exit_code,
        )
    if lacking:
        stages = list(dict.fromkeys(each.stage for each in lacking))
        yield note(
            f"DVC has no copy of what these made, and runs them again: {some(stages)}",
            "invoke repro" if len(stages) > 1 else f"invoke repro --stage {stages[0]}",
        )


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _name(path: Path) -> str:
    """The hash that a copy's path stands for."""
    return f"{path.parent.name}{path.name}".removesuffix(".dir")


def outputs() -> Iterator[Finding]:
    """Data and weights that were made are here."""
    everything = stored()
    missing = [each for each in everything if not each.path.exists()]
    kept = [str(each.path) for each in missing if _is_kept(each)]
    if kept:
        yield fail(
            f"{some(kept)}: missing here, but DVC has a copy",
            f"dvc checkout {' '.join(kept)}",
            exit_code=DataError.exit_code,
            mend=_checkout(kept),
        )
    nets = [str(each.path) for each in missing if each.stage != FETCH]
    if lost := [path for path in nets if path not in kept]:
        yield note(f"{some(lost)}: not here, as in a fresh clone", "invoke repro")
    for each in everything:
        if each.stage != FETCH and each.path.is_file() and _md5(each.path) != each.md5:
            yield warn(
                f"{each.path} is not what {each.stage} made",
                f"dvc checkout --force {each.path}"
                if _is_kept(each)
                else f"invoke repro --stage {each.stage}",
            )


def _is_kept(each: Stored) -> bool:
    """Whether DVC has whole copies of all of it."""
    try:
        return all(path.is_file() and _md5(path) == _name(path) for path in each.copies())
    except (ValueError, KeyError, TypeError):
        return False


def _checkout(paths: list[str]) -> Callable[[], str]:
    def checkout() -> str:
        command = [sys.executable, "-m", "dvc", "checkout", "--quiet", *paths]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise DataError(" ".join(result.stderr.split()))
        return f"{some(paths)} are here again"

    return checkout


CHECKS = (outputs, copies)
