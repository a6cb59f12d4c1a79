"""Measurements of the theory stages with their smallest parameters, which take a second or two.

Each stage's parameters are in tests/stages/<name>/smallest.py.
"""

import functools
import importlib

from threadpoolctl import threadpool_limits

from lab.results.measurements import Measurement

STAGES = ("landscapes", "optimizers", "schedules", "replicas")


@functools.cache
def results(stage: str) -> list[Measurement]:
    """Return a stage's measurements; `results.__wrapped__` measures again."""
    with threadpool_limits(1):  # work so small is faster on one thread
        measured: list[Measurement] = importlib.import_module(
            f"tests.stages.{stage}.smallest"
        ).results()
    return measured
