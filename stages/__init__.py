"""A folder is a question, a DVC stage, and a command: `python -m stages.NAME`."""

import os
import sys
from importlib.util import find_spec

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
    from lab.core.process import DIE_WITH_PARENT, die_with_parent

    if "DVC_STAGE" in os.environ or DIE_WITH_PARENT in os.environ:
        die_with_parent()  # now: importing torch takes seconds, in which the parent may be killed
