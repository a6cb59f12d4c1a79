"""Run a stage in a separate folder with a deadline, and end it with every process it started."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lab.core.process import end_family, ends_with_this_process
from lab.data.sources import MIRROR_VARIABLE, is_address, own_mirror
from lab.machine.limits import killed
from lab.timing.deadline import DEADLINE_VARIABLE, LATEST_VARIABLE, TRACES_VARIABLE
from lab.tools.record import carried
from lab.tools.record.parts import before_writing_s

MOST_OVERDUE_S = 30.0  # beyond twice its deadline


def run_stage(
    words: list[str],
    work: Path,
    left_s: float,
    deadline_s: float = math.inf,
    traces: Path | None = None,
) -> str:
    """Run a stage in `work`; return why it did not finish, or "".

    At its deadline a stage finishes with the samples that it has. If these are too few to decide
    anything, or its current one takes longer, it uses time of later stages, which are worth less.
    It is ended after about twice its deadline, or when no time is left. It leaves profiler traces
    in the folder `traces`.
    """
    if left_s <= 0:
        return "skipped: no time left"
    stage, *arguments = words
    most_s = min(left_s, 2 * deadline_s + MOST_OVERDUE_S)
    now = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", f"stages.{stage}", *arguments],
        cwd=work,
        env=_environment(now + deadline_s, now + before_writing_s(most_s), traces),
        start_new_session=True,
        preexec_fn=ends_with_this_process(),
    )
    try:
        code = process.wait(most_s)
    except subprocess.TimeoutExpired:
        return "skipped: ran out of time"
    finally:
        if process.poll() is None:
            end_family(process)
    if code == -signal.SIGKILL:
        return str(killed(f"stages.{stage}"))
    return f"failed with exit code {code}" if code else ""


def _environment(until: float, latest: float, traces: Path | None) -> dict[str, str]:
    """Return the environment of a stage that runs in a different folder, with its deadlines."""
    found = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(carried.ROOT), str(carried.FOLDER), os.environ.get("PYTHONPATH")])
        ),
        DEADLINE_VARIABLE: str(until),
        LATEST_VARIABLE: str(latest),
        TRACES_VARIABLE: str(traces or ""),
        "KINETO_LOG_LEVEL": "99",  # else the profiler's library logs each start and end
    }
    if (mirror := own_mirror()) and not is_address(mirror):
        found[MIRROR_VARIABLE] = str(Path(mirror).absolute())
    return found
