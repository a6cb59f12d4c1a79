"""Run the stages of a visit sequentially, each with a deadline, in a separate folder.

The project's own results stay as they are. Each stage's results are kept immediately, so a visit
that ends early keeps all that was finished. The next visit to such a machine continues with what
is missing.
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
FETCH_S = 60.0  # limit for fetching data that were not carried here

log = logging.getLogger(__name__)


def record(
    name: str, profile: str, budget_s: float, parts: Sequence[VisitPart] | None = None
) -> None:
    """Measure this machine with a profile's params and write its reference.

    Args:
        name: the reference's name.
        profile: the profile's name.
        budget_s: seconds for the whole visit.
        parts: the parts of the visit, the most valuable first; all of them if not given.

    Raises:
        ParamsError: `path_of` rejects the name, the profile is unknown, or the budget is too small.
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
                prune(kept, stages)
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
    """Return the stages that earlier visits to such a machine with this profile measured."""
    found = read_reference(path) if path.is_file() else {}
    if (found.get("hardware"), found.get("profile")) != (hardware, profile):
        return {}
    stages: dict[str, Any] = found["stages"]
    return stages


def enough(taken: Taken | None) -> bool:
    """Return whether a stage has finished, with enough fresh processes to decide if it uses any."""
    return taken is not None and float(taken.conditions.get("starts", FEWEST)) >= FEWEST


def prepare(work: Path, profile: str, end: float) -> None:
    """Put params, data and the machine's facts into `work`.

    Raises:
        ParamsError: the profile is unknown.
        MachineError: the machine cannot be probed.
        DataError: there are no data.
    """
    (work / PARAMS_FILE).write_text(merge(profile), encoding="utf-8")
    if problem := run_stage(["probe"], work, end - time.monotonic()):
        raise MachineError(f"probe: {problem}; fix that first")
    fetch_s = min(FETCH_S, end - time.monotonic())
    if not _link_data(work) and (problem := run_stage(["fetch"], work, fetch_s)):
        raise DataError(f"fetch: {problem}; bring data/ along, as `invoke pack` does")


def measure(
    part: VisitPart, work: Path, left_s: float, until_s: float, kept: Path
) -> dict[str, Any] | str:
    """Run a part; return its seconds, findings and trace summaries, or why it did not finish.

    Copy its rows and traces into `kept`.
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


def prune(kept: Path, stages: Mapping[str, Any]) -> None:
    """Delete rows and traces of stages that a visit's record lacks: a different machine's."""
    for rows in [*kept.rglob("*.csv")]:
        if not isinstance(stages.get(rows.parent.relative_to(kept).as_posix()), Mapping):
            shutil.rmtree(rows.parent, ignore_errors=True)


def _link_data(work: Path) -> bool:
    """Link the project's data into `work`; return whether there are any."""
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
