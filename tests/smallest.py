"""What the theory stages find at their smallest: measured, since that takes them a second or two.

Each stage's parameters are in tests/stages/<name>/smallest.py.
"""

import functools
import importlib
from pathlib import Path

from threadpoolctl import threadpool_limits

from lab.core.files import Metrics, write_metrics, write_rows
from lab.results.curves import Curve, rows_of

STAGES = ("landscapes", "optimizers", "schedules", "replicas")


@functools.cache
def results(stage: str) -> tuple[list[Curve], Metrics]:
    """The curves and metrics of a stage; `results.__wrapped__` measures again."""
    with threadpool_limits(1):  # work so small is faster on one thread
        curves, metrics = importlib.import_module(f"tests.stages.{stage}.smallest").results()
    return curves, metrics


def write(stage: str, reports: Path) -> None:
    """Write a stage's rows and metrics under `reports`."""
    curves, metrics = results(stage)
    write_rows(reports / stage, rows_of(curves))
    write_metrics(reports / stage, metrics)
