"""A visit: the stages one after the other, each with a deadline, in a folder of their own.

The project's own results stay as they are. What a stage leaves is kept at once, so that a visit
that ends early has all that was finished. The next one to such a machine goes on with what is
lacking.
"""

import argparse
import logging
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.core.errors import DataError, MachineError, ParamsError
from lab.core.files import HARDWARE_FILE, REPORTS, write_json
from lab.core.params import PARAMS_FILE
from lab.data.datasets import DATA, SOURCE_FILE
from lab.results.derived import taken_under
from lab.results.diff import Taken
from lab.results.documents import read_hardware
from lab.results.stats import FEWEST
from lab.tools.profiles import merge
from lab.tools.record.commands import run_stage
from lab.tools.record.gpu_state import gpu_state, library_versions
from lab.tools.record.parts import VisitPart, deadline_s, in_order
from lab.tools.record.traces import collect
from lab.tools.references import path_of, read_reference, stage_of, taken_of

BUDGET_S = 600
RESERVE_S = 10.0  # of the budget, to end the last stage and write
FETCH_S = 60.0  # that data may take which were not carried here

log = logging.getLogger(__name__)


def record(
    name: str, profile: str, budget_s: float, parts: Sequence[VisitPart] | None = None
) -> None:
    """Measure this machine with a profile's params and write its reference.

    Args:
        name: of the reference.
        profile: its params.
        budget_s: seconds in all.
        parts: of the visit, the most valuable first; all of them if not given.

    Raises:
        ParamsError: a name that `path_of` rejects, an unknown profile, or too small a budget.
        MachineError, DataError: as in `prepare`.
    """
    if budget_s <= RESERVE_S:
        raise ParamsError(f"--budget: expected over {RESERVE_S:.0f} s, got {budget_s:g}; give more")
    path, end = path_of(name), time.monotonic() + budget_s - RESERVE_S
    kept, before = path.with_suffix(""), gpu_state()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        prepare(work, profile, end)
        document: dict[str, Any] = {
            "name": name,
            "profile": profile,
            "hardware": read_hardware(work / HARDWARE_FILE),
            "gpu": {"versions": library_versions(), "before": before},
        }
        stages, left = earlier(path, document["hardware"], profile), parts
        document["stages"] = stages
        if not stages:
            path.unlink(missing_ok=True)  # another machine's
            shutil.rmtree(kept, ignore_errors=True)
        if left is None:
            left = in_order(document["hardware"]["accelerator"]["count"])
        taken = taken_of(document)
        left = [part for part in left if not enough(taken.get(part.folder))] or left
        finished = False
        while left:
            part, left_s = left[0], end - time.monotonic()
            until_s = deadline_s(left, left_s)
            found = measure(part, work, left_s, until_s, kept)
            if isinstance(found, str):
                log.info("%s: %s", part.folder, found)
                if isinstance(stages.get(part.folder), str | None):
                    stages[part.folder] = found
            else:
                log.info("%s: %s s", part.folder, found["seconds"])
                stages[part.folder] = found
                finished = True
                write_json(path, document)
            left = left[1:]
        if not finished:
            raise ParamsError(
                f"--budget: no stage has finished within {budget_s:.0f} s; give more, or a smaller"
                " profile"
            )
        document["gpu"]["after"] = gpu_state()
        write_json(path, document)
    log.info("%s", path)


def earlier(path: Path, hardware: Mapping[str, Any], profile: str) -> dict[str, Any]:
    """The stages that visits to such a machine with these params have measured, perhaps none."""
    found = read_reference(path) if path.is_file() else {}
    if (found.get("hardware"), found.get("profile")) != (hardware, profile):
        return {}
    stages: dict[str, Any] = found["stages"]
    return stages


def enough(taken: Taken | None) -> bool:
    """Whether a stage has finished, with the starts that decide something if it makes any."""
    return taken is not None and float(taken.conditions.get("starts", FEWEST)) >= FEWEST


def prepare(work: Path, profile: str, end: float) -> None:
    """Put params, data and the machine's facts into `work`.

    Raises:
        ParamsError: an unknown profile.
        MachineError: the machine cannot be probed.
        DataError: there are no data.
    """
    (work / PARAMS_FILE).write_text(merge(profile), encoding="utf-8")
    if problem := run_stage(["probe"], work, end - time.monotonic()):
        raise MachineError(f"probe: {problem}; mend that first")
    fetch_s = min(FETCH_S, end - time.monotonic())
    if not _link_data(work) and (problem := run_stage(["fetch"], work, fetch_s)):
        raise DataError(f"fetch: {problem}; bring data/ along, as `invoke pack` does")


def measure(
    part: VisitPart, work: Path, left_s: float, until_s: float, kept: Path
) -> dict[str, Any] | str:
    """Run a part; returns its seconds, findings and traces in short, or why it did not finish.

    Its rows and traces are copied into `kept`.
    """
    start = time.monotonic()
    traces = work / "traces" / part.folder
    traces.mkdir(parents=True)
    words = [part.stage, *([part.run] if part.run else [])]
    if problem := run_stage(words, work, left_s, until_s, traces):
        return problem
    results = work / REPORTS / part.folder
    seconds = round(time.monotonic() - start, 1)
    found = {"seconds": seconds, **stage_of(taken_under(work / REPORTS)[part.folder])}
    shutil.rmtree(kept / part.folder, ignore_errors=True)  # an earlier visit's
    (kept / part.folder).mkdir(parents=True)
    for rows in results.glob("*.csv"):
        shutil.copy(rows, kept / part.folder)
    summaries = collect(traces, kept / part.folder / "traces")
    return found | ({"traces": summaries} if summaries else {})


def _link_data(work: Path) -> bool:
    """Link the project's data into `work`, and say whether they are there."""
    if (DATA / SOURCE_FILE).is_file():
        shutil.copytree(DATA, work / DATA, copy_function=_link)
        return True
    return False


def _link(source: str, target: str) -> None:
    Path(target).symlink_to(Path(source).resolve())


def main() -> None:
    """Measure this machine under the name on the command line."""
    parser = argparse.ArgumentParser(prog="python -m lab.tools.record", description=__doc__)
    parser.add_argument("name", help="of the reference: reports/reference/NAME.json")
    parser.add_argument("--profile", default="full", help="smoke, laptop, study or full")
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds in all")
    arguments = parser.parse_args()
    record(arguments.name, arguments.profile, arguments.budget)
