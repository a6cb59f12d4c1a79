"""params.yaml and dvc.yaml: what a person edits."""

import importlib
from collections.abc import Iterator
from pathlib import Path

from lab.core import params
from lab.core.errors import ParamsError
from lab.tools.doctor.finding import Finding, fail, ok

PIPELINE = Path("dvc.yaml")


def parameters() -> Iterator[Finding]:
    """params.yaml has what the stages read, with values that they admit."""
    [folder] = importlib.import_module("stages").__path__
    models = [
        importlib.import_module(f"stages.{path.parents[1].name}.measure.params").Params
        for path in sorted(Path(folder).glob("*/measure/params.py"))
    ]
    try:
        params.check(models)
    except ParamsError as error:
        for line in str(error).splitlines():
            yield fail(line, exit_code=error.exit_code)
    else:
        yield ok(f"{params.PARAMS_FILE} has what {len(models)} stages read")


def pipeline() -> Iterator[Finding]:
    """dvc.yaml has stages, each with a command."""
    try:
        stages = params.read_yaml(PIPELINE).get("stages")
    except ParamsError as error:
        yield fail(str(error), f"git checkout {PIPELINE}")
        return
    if not isinstance(stages, dict) or not all(
        isinstance(stage, dict) and "cmd" in stage for stage in stages.values()
    ):
        yield fail(f"{PIPELINE}: expected stages, each with a cmd", f"git checkout {PIPELINE}")


CHECKS = (parameters, pipeline)
