"""Measure this machine within a time budget: `python -m lab.tools.record NAME`."""

import sys

from lab.tools.record import carried

carried.use()
if names := carried.lacking():
    print(f"ERROR: {carried.remedy(names)}", file=sys.stderr)
    sys.exit(4)  # lab.core.errors.MachineError's exit code

# ruff: noqa: E402
from lab.core.process import run
from lab.tools.record.visit import main

if __name__ == "__main__":
    sys.exit(run(main))
