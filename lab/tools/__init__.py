"""Commands beside the stages: `python -m lab.tools.NAME`, which hear signals from the start."""

import contextlib
import sys

if sys.argv[:1] == ["-m"]:  # so it is while `python -m` imports the packages of its module
    with contextlib.suppress(ImportError):  # half a copy of the project, of which doctor tells
        from lab.core.exit_codes import from_the_start

        from_the_start()
