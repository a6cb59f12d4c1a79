"""Which machine is this? Stable facts about it, which every measurement depends on.

It runs on each `dvc repro`, and what depends on it re-runs only when a fact changed: another processor, number
of cores, GPU or torch means other times. It is also the first stage to run, so it checks the whole of
params.yaml before any work starts.

Read `reports/hardware.json`: three groups, `accelerator`, `cpu` and `software`.
"""

import importlib
import sys
from pathlib import Path

from lab import hardware, params
from lab.records import HARDWARE_FILE, write_json
from lab.runner import run


def params_models() -> list[type[params.Section]]:
    """Return what each stage reads of params.yaml: the `Params` of those stages that have one."""
    modules = (
        importlib.import_module(f"stages.{path.stem}") for path in sorted(Path(__file__).parent.glob("[a-z]*.py"))
    )
    return [module.Params for module in modules if hasattr(module, "Params")]


def main() -> None:
    """Check params.yaml and write reports/hardware.json."""
    params.check(params_models())
    write_json(HARDWARE_FILE, hardware.facts())


if __name__ == "__main__":
    sys.exit(run(main))
