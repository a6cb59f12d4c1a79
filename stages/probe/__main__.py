"""Run the stage: `python -m stages.probe`."""

import importlib
import sys
from pathlib import Path

from lab.core import params
from lab.core.files import HARDWARE_FILE, write_json
from lab.core.process import run
from lab.machine import hardware


def params_models() -> list[type[params.Section]]:
    """Return each stage's model of params.yaml: `Params` in its measure/params.py."""
    files = sorted(Path(__file__).parents[1].glob("*/measure/params.py"))
    return [
        importlib.import_module(f"stages.{path.parents[1].name}.measure.params").Params
        for path in files
    ]


def main() -> None:
    """Check params.yaml and write reports/hardware.json."""
    params.check(params_models())
    write_json(HARDWARE_FILE, hardware.facts())


if __name__ == "__main__":
    sys.exit(run(main))
