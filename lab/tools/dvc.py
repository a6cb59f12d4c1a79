"""DVC as it is, without its advice to add files to git, and to push where there is no remote.

`invoke` runs it in DVC's place: `python -m lab.tools.dvc repro`.
"""

import logging
import sys
from typing import Any

from dvc.cli import main
from dvc.config import Config
from dvc.ui import ui

PUSH = "Use `dvc push` to send your updates to remote storage."
_write = ui.write


def write(*words: Any, **how: Any) -> None:
    """Write what DVC tells."""
    if words != (PUSH,) or Config.from_cwd()["remote"]:
        _write(*words, **how)


if __name__ == "__main__":
    logging.getLogger("dvc.repo.scm_context").setLevel(logging.WARNING)  # it says what to add
    ui.write = write
    sys.exit(main(sys.argv[1:]))
