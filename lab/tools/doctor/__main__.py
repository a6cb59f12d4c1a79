"""Say what is wrong here and which one command mends it; with `--fix`, mend what is safe to mend.

A line for each thing found: `ok`, `note` (worth knowing), `warn` (works, but), `FAIL`. The exit
code is that of the first failure. `--fix` deletes what dead processes left, brings back dvc.lock
and what DVC keeps copies of; it touches no results and no edits.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

from lab.tools.doctor.finding import FIX, Finding, fail

Check = Callable[[], Iterator[Finding]]
ROOMS = (
    "environment",
    "gpus",
    "repository",
    "parameters",
    "lock_file",
    "dvc_state",
    "stored",
    "data",
    "processes",
    "leftovers",
)


def checks(rooms: Iterable[str] = ROOMS) -> Iterator[tuple[str, Check]]:
    """All checks with their names; a file of the doctor that does not import is one that fails."""
    for room in rooms:
        try:
            found: tuple[Check, ...] = import_module(f"lab.tools.doctor.{room}").CHECKS
        except Exception as error:
            yield room, _saying(_unexpected(error))
            continue
        yield from ((check.__name__, check) for check in found)


def _saying(finding: Finding) -> Check:
    return lambda: iter([finding])


def findings(check: Check) -> Iterator[Finding]:
    """What a check finds; whatever it stumbles over is a finding, too."""
    try:
        yield from check()
    except Exception as error:
        yield _unexpected(error)


def _unexpected(error: Exception) -> Finding:
    """What stopped a check: one of the lab's own errors says what to do, others are named."""
    if hasattr(error, "exit_code"):
        return fail(str(error), exit_code=error.exit_code)
    if isinstance(error, ModuleNotFoundError) and str(error.name).startswith(("lab.", "stages.")):
        path = f"{error.name}.py".replace(".", "/", str(error.name).count("."))
        return fail(f"not looked at, as {path} is missing", f"git checkout -- {path}")
    return fail(f"not looked at: {type(error).__name__}: {error}")


def mended(finding: Finding) -> Finding | str:
    """What was done about a finding; the finding itself if nothing could be."""
    if finding.mend is None:
        return finding
    try:
        return finding.mend()
    except Exception as error:
        return fail(f"{finding.text}; not mended: {error}", finding.command, finding.exit_code or 4)


def examine(found: Iterable[tuple[str, Check]], fix: bool) -> list[Finding]:
    """Print a line for each finding, mending what can be if `fix`; returns what is left."""
    left = []
    for name, check in found:
        for finding in findings(check):
            outcome = mended(finding) if fix else finding
            if isinstance(outcome, Finding):
                left.append(outcome)
            level, text = (
                ("fixed", outcome) if isinstance(outcome, str) else (outcome.level, str(outcome))
            )
            print(f"{level:5} {name.replace('_', ' ')}: {text}", flush=True)
    return left


def main() -> None:
    """Examine everything.

    Raises:
        LabError: something failed, with the exit code of the first; a line for each.
    """
    from lab.core.errors import LabError

    parser = argparse.ArgumentParser(prog="python -m lab.tools.doctor", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="mend what is safe to mend")
    left = examine(checks(), fix=parser.parse_args().fix)
    mendable = sum(finding.mend is not None for finding in left)
    if mendable:
        print(f"`{FIX}` mends {mendable} of these")
    failures = [finding for finding in left if finding.level == "FAIL"]
    if failures:
        error = LabError("\n".join(map(str, failures)))
        error.exit_code = failures[0].exit_code
        raise error


if __name__ == "__main__":
    try:
        from lab.core.process import run
    except ImportError:  # half a copy of the project: `files` says what is missing
        sys.exit(max((each.exit_code for each in examine(checks(), fix=False)), default=0))
    sys.exit(run(main))
