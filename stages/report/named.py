"""The names in a question's text: conditions, findings, and its page's own `values`.

This module imports no matplotlib, so that a stage can print its answer within half a second.
"""

import contextlib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from lab.core.errors import NotThereError
from lab.core.params import PARAMS_FILE, read_yaml
from lab.report.benchmarks import undecided
from lab.report.language import say
from lab.results.documents import read_results


def read_question(stage: str, reports: Path) -> tuple[Any, Any]:
    """Return a stage's results and findings; for `train`, those of each run that has any.

    Raises:
        NotThereError: there are no results.
    """
    derivation = import_module(f"stages.{stage}.findings")
    if stage == "train":
        runs = {}
        for name in read_yaml(PARAMS_FILE)[stage]["runs"]:
            with contextlib.suppress(NotThereError):
                runs[name] = read_results(reports / name)
        if not runs:
            raise NotThereError(f"{reports}: no run is there yet; `invoke repro` trains them")
        return runs, {name: derivation.findings(results) for name, results in runs.items()}
    results = read_results(reports)
    return results, derivation.findings(results)


def named(stage: str, results: Any, found: Any) -> dict[str, Any]:
    """Return everything that a text may name."""
    return {**findings_and_conditions(stage, results, found), **page_values(stage, results, found)}


def findings_and_conditions(stage: str, results: Any, found: Any) -> dict[str, Any]:
    """Return the names that need no page; the runs of `train` have no names in common."""
    return {} if stage == "train" else {**results.conditions, **found}


def page_values(stage: str, results: Any, found: Any) -> dict[str, Any]:
    """Return the page's `values`, if its figures.py has that function."""
    page = import_module(f"stages.{stage}.page.figures")
    return page.values(results, found) if hasattr(page, "values") else {}


def doubt_about(stage: str, conditions: Mapping[str, Any], smoke: bool) -> str:
    """Return why a stage's numbers decide nothing; "" without a reason.

    Args:
        stage: the stage.
        conditions: its conditions.
        smoke: whether params.yaml is the profile `smoke`.
    """
    if smoke:
        return say(
            "The profile smoke only checks that everything runs: its numbers mean nothing."
            " `invoke repro --profile laptop` measures."
        )
    of_times = getattr(import_module(f"stages.{stage}.findings"), "OF_TIMES", True)
    return undecided(conditions, stage) if of_times else ""
