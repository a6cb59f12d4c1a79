"""A folder is a question, a DVC stage, and a command: `python -m stages.NAME`."""

import os
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

# what a stage's __main__.py imports if it measures in fresh processes, and waits for their server
WAITS_BY = {"lab.machine.fresh_process.await_server", "lab.timing.runner.Benchmark"}

if sys.argv[:1] == ["-m"]:  # while `python -m` imports its module
    # `.venv/bin/dvc` runs stages by the first `python` on PATH, whichever that is
    missing = [name for name in ("psutil", "pydantic", "torch") if find_spec(name) is None]
    if missing:
        print(
            f"ERROR: {sys.executable} lacks {', '.join(missing)}; `source .venv/bin/activate`, or"
            " `.venv/bin/invoke repro`, where .venv is the environment of the lab",
            file=sys.stderr,
        )
        sys.exit(4)  # of lab.core.errors.MachineError, which needs no more than this
    from lab.core.interrupts import end_on_interrupt

    end_on_interrupt()  # before what takes a moment to import
    from lab.core.imports import imports
    from lab.core.process import DIE_WITH_PARENT, die_with_parent, open_standard_streams

    if "DVC_STAGE" in os.environ or DIE_WITH_PARENT in os.environ:
        die_with_parent()  # now: importing torch takes seconds, in which the parent may be killed
    stage = next((name for option, name in pairwise(sys.orig_argv) if option == "-m"), "")
    program = Path(__file__).parent / stage.removeprefix("stages.") / "__main__.py"
    if program.is_file() and imports(program) & WAITS_BY:
        open_standard_streams()  # or pipes would get their numbers
        from lab.machine.fresh_process import start_server

        start_server(f"{stage}.__main__")  # which imports torch while this process does
