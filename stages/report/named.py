"""What a question's text may name: conditions, findings, and what its page makes beside them.

It imports no matplotlib, so that a stage can tell its answer within half a second.
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
    """Return a stage's results and findings; of `train`, those of each run that has any.

    Raises:
        NotThereError: there are none.
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
    """Return all that a text may name."""
    return {**findings_and_conditions(stage, results, found), **beside(stage, results, found)}


def findings_and_conditions(stage: str, results: Any, found: Any) -> dict[str, Any]:
    """Return what is there without the page; the runs of `train` have no names in common."""
    return {} if stage == "train" else {**results.conditions, **found}


def beside(stage: str, results: Any, found: Any) -> dict[str, Any]:
    """Return what the page's `values` makes, if its figures.py has that function."""
    page = import_module(f"stages.{stage}.page.figures")
    return page.values(results, found) if hasattr(page, "values") else {}


def doubt_about(stage: str, conditions: Mapping[str, Any], smoke: bool) -> str:
    """Say why a stage's numbers decide nothing; empty where they do.

    Args:
        stage: whose numbers they are.
        conditions: of the stage.
        smoke: whether params.yaml is that profile.
    """
    if smoke:
        return say(
            "The profile smoke only checks that everything runs: its numbers mean nothing."
            " `invoke repro --profile laptop` measures."
        )
    of_times = getattr(import_module(f"stages.{stage}.findings"), "OF_TIMES", True)
    return undecided(conditions, stage) if of_times else ""
