"""A folder is a question, a DVC stage, and a command: `python -m stages.NAME`."""

import signal
import sys
from importlib.util import find_spec

if sys.argv[:1] == ["-m"]:  # while `python -m` imports its module
    # imports take seconds: until `run` listens, Ctrl-C ends this process without a traceback
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # `.venv/bin/dvc` runs stages with the first `python` on PATH, which may be a different one
    missing = [name for name in ("psutil", "pydantic", "torch") if find_spec(name) is None]
    if missing:
        print(
            f"ERROR: {sys.executable} lacks {', '.join(missing)}; `source .venv/bin/activate`, or"
            " `.venv/bin/invoke repro`, where .venv is the environment of the lab",
            file=sys.stderr,
        )
        sys.exit(4)  # lab.core.errors.MachineError's exit code
    import lab.core.process  # noqa: F401  (before torch: it notes its parent and its start time)
