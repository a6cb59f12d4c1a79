"""A folder is a question, a DVC stage, and a command: `python -m stages.NAME`."""

import os
import sys

if "DVC_STAGE" in os.environ and sys.argv[:1] == ["-m"]:  # while `python -m` imports its module
    from lab.core.process import die_with_parent

    die_with_parent()  # now: importing torch takes seconds, in which DVC may be killed
