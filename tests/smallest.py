"""What the theory stages find at their smallest: measured, since that takes them a second or two.

Each stage's parameters are in tests/stages/<name>/smallest.py.
"""

import functools
import importlib
from pathlib import Path

from threadpoolctl import threadpool_limits

from lab.core.files import Metrics, write_metrics, write_rows
from lab.results.measurements import Measurement, rows_of

STAGES = ("landscapes", "optimizers", "schedules", "replicas")


@functools.cache
def results(stage: str) -> tuple[list[Measurement], Metrics]:
    """What a stage measures, and its metrics; `results.__wrapped__` measures again."""
    with threadpool_limits(1):  # work so small is faster on one thread
        measured, metrics = importlib.import_module(f"tests.stages.{stage}.smallest").results()
    return measured, metrics


def write(stage: str, reports: Path) -> None:
    """Write a stage's rows and metrics under `reports`."""
    measured, metrics = results(stage)
    write_rows(reports / stage, rows_of(measured))
    write_metrics(reports / stage, metrics)
