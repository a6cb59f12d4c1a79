"""References: one machine's results in a file, `reports/reference/NAME.json`, to compare with.

`record` is for a machine that is at hand for minutes: it runs the benchmark stages one after the
other, without DVC and within a time budget, in a temporary folder, so that the project's own
results stay as they are. `snapshot` keeps the results that are there: every stage's metrics and the
verdict on every claim.
"""

import argparse
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from lab.claims.book_order import BOOK_ORDER
from lab.core.errors import DataError, LabError, ParamsError
from lab.core.exit_codes import run
from lab.core.files import HARDWARE_FILE, MEND, REPORTS, read_json, read_rows, write_json
from lab.core.params import PARAMS_FILE
from lab.data.datasets import DATA, SOURCE_FILE
from lab.results.documents import (
    Document,
    Hardware,
    Metrics,
    bring_back,
    read_document,
    read_hardware,
)
from lab.tools.profiles import in_use, merge

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = REPORTS / "reference"
CLAIMS = REPORTS / "claims" / "rows.csv"
STAGES = tuple(name for name in BOOK_ORDER if name.startswith("bench_") or name == "scaling")

log = logging.getLogger(__name__)


class _Stage(Document):
    metrics: Metrics


class _Reference(Document):
    """The form of a reference; of a stage that did not finish it says why."""

    name: str
    profile: str
    hardware: Hardware
    stages: dict[str, str | _Stage]
    claims: list[dict[str, float | str]] = Field(default_factory=list)


def record(name: str, profile: str, budget_s: float, stages: Sequence[str] = STAGES) -> Path:
    """Measure this machine with a profile's params and write its reference.

    A stage that the budget leaves no time for is skipped.

    Raises:
        ParamsError: a name that `path_of` rejects, or an unknown profile.
        LabError: no stage has finished.
    """
    path = path_of(name)
    end = time.monotonic() + budget_s
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / PARAMS_FILE).write_text(merge(profile), encoding="utf-8")
        for stage in ("probe", *([] if _link_data(work) else ["fetch"])):
            problem = _run_stage(stage, work, end)
            if problem:
                raise LabError(f"{stage}: {problem}; mend that first")
        for stage in stages:
            start = time.monotonic()
            problem = _run_stage(stage, work, end)
            found[stage] = problem or {
                "seconds": round(time.monotonic() - start, 1),
                "metrics": read_json(work / REPORTS / stage / "metrics.json"),
            }
            log.info("%s: %s", stage, problem or f"{found[stage]['seconds']} s")
        if all(isinstance(result, str) for result in found.values()):
            raise LabError(
                f"no stage has finished within {budget_s:.0f} s; give more, or a smaller profile"
            )
        document = {
            "name": name,
            "profile": profile,
            "hardware": read_hardware(work / HARDWARE_FILE),
            "stages": found,
        }
        write_json(path, document)
    return path


def path_of(name: str) -> Path:
    """The file of a reference.

    Raises:
        ParamsError: the name has other characters than letters, digits, `_`, `-` and `.`.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        raise ParamsError(
            f"reference {name!r}: expected at most 64 letters, digits, _, - and .; choose such a"
            " name"
        )
    return REFERENCE / f"{name}.json"


def read_reference(path: Path) -> dict[str, Any]:
    """A reference.

    Raises:
        DataError: missing or damaged.
        MachineError: another user's.
    """
    return read_document(path, _Reference, bring_back(path))


def metrics_on_disk() -> dict[str, dict[str, Any]]:
    """All metrics here, by the stage's folder under `reports` (`train/lenet_1gpu`).

    Raises:
        DataError: a file is damaged.
    """
    return {
        path.parent.relative_to(REPORTS).as_posix(): read_document(path, Metrics, MEND)
        for path in sorted(REPORTS.rglob("metrics.json"))
    }


def metrics_of(reference: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """All metrics in a reference, by the stage's folder, without stages that did not finish."""
    return {
        s: found["metrics"]
        for s, found in reference["stages"].items()
        if isinstance(found, Mapping)
    }


def snapshot(name: str) -> Path:
    """Write the results that are there as a reference, and return its path.

    Raises:
        ParamsError: a name that `path_of` rejects.
        DataError: there are no results, or a file of them is damaged.
    """
    path, found = path_of(name), metrics_on_disk()
    if not found or not HARDWARE_FILE.is_file():
        raise DataError(f"{REPORTS}: no results to keep yet; run `invoke repro` first")
    document = {
        "name": name,
        "profile": in_use(),
        "hardware": read_hardware(),
        "stages": {stage: {"metrics": metrics} for stage, metrics in found.items()},
        "claims": read_rows(CLAIMS) if CLAIMS.is_file() else [],
    }
    write_json(path, document)
    return path


def _link_data(work: Path) -> bool:
    """Link the project's data into `work`, and say whether they are there."""
    if (DATA / SOURCE_FILE).is_file():
        shutil.copytree(DATA, work / DATA, copy_function=_link)
        return True
    return False


def _link(source: str, target: str) -> None:
    Path(target).symlink_to(Path(source).resolve())


def _run_stage(stage: str, work: Path, end: float) -> str:
    """Run a stage in `work` until `end` at most; the result says why it did not finish, if so."""
    left = end - time.monotonic()
    if left <= 0:
        return "skipped: no time left"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", f"stages.{stage}"], cwd=work, env=environment, start_new_session=True
    )
    try:
        code = process.wait(left)
    except subprocess.TimeoutExpired:
        return "skipped: ran out of time"
    finally:
        if process.poll() is None:  # it and the workers it started
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return f"failed with exit code {code}" if code else ""


def main() -> None:
    """Measure this machine, or keep its results, under the name on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name")
    parser.add_argument(
        "--snapshot", action="store_true", help="keep the results that are there; run nothing"
    )
    parser.add_argument("--profile", default="full")
    parser.add_argument("--budget", type=float, default=540.0, help="seconds in all")
    arguments = parser.parse_args()
    if arguments.snapshot:
        log.info("%s", snapshot(arguments.name))
    else:
        log.info("%s", record(arguments.name, arguments.profile, arguments.budget))


if __name__ == "__main__":
    sys.exit(run(main))
