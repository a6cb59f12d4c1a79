"""DVC as it is, without its advice to add files to git, and to push where there is no remote.

`invoke` runs it in DVC's place: `python -m lab.tools.dvc repro`.
"""

import logging
import signal
import sys
from typing import Any

from lab.core.interrupts import end_on_interrupt

PUSH = "Use `dvc push` to send your updates to remote storage."


def main() -> int:
    """Run a command of DVC's, and return its exit code."""
    before = signal.getsignal(signal.SIGINT)
    end_on_interrupt()
    from dvc import cli, repo  # noqa: F401  (which takes a second, and `cli` would do it later)
    from dvc.config import Config
    from dvc.ui import ui

    signal.signal(signal.SIGINT, before)
    write = ui.write

    def write_but_advice(*words: Any, **how: Any) -> None:
        if words != (PUSH,) or Config.from_cwd()["remote"]:
            write(*words, **how)

    ui.write = write_but_advice
    logging.getLogger("dvc.repo.scm_context").setLevel(logging.WARNING)  # it says what to add
    code: int = cli.main(sys.argv[1:])
    return code


if __name__ == "__main__":
    sys.exit(main())
