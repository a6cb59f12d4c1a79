"""The page's sections, found by their stages' names, and their figures, drawn side by side."""

import importlib
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from lab.claims.book_order import BOOK_ORDER
from lab.core.files import REPORTS
from lab.data.datasets import CLASSES, Split
from lab.report import figures
from lab.report.language import say
from lab.report.page import Section
from stages.report import references, retest

FIGURES = REPORTS / "figures"
MOST_PROCESSES = 4  # more start for longer than they draw

log = logging.getLogger(__name__)

Builders = dict[str, Callable[[], Section]]


def builders() -> Builders:
    """Who makes each section: the claims', the stages' in the book's order, and on other runs.

    A stage's is `section` of stages/<name>/section.py, which is given the stage's folder under
    reports.
    """
    made: Builders = {
        stage: partial(importlib.import_module(f"stages.{stage}.section").section, REPORTS / stage)
        for stage in ("claims", *BOOK_ORDER)
    }
    return made | {
        "retest": partial(retest.section, REPORTS / "retest"),
        "references": partial(references.section, REPORTS),
    }


def draw_figures(stages: Sequence[str]) -> dict[str, str]:
    """Draw all stages' figures; what is wrong with the results of those that cannot be shown."""
    # drawing is most of the work
    with ProcessPoolExecutor(min(MOST_PROCESSES, os.cpu_count() or 1)) as pool:
        found = dict(zip(stages, pool.map(draw_stage, stages), strict=True))
    problems = {stage: problem for stage, problem in found.items() if problem}
    for stage, problem in problems.items():
        log.warning("%s cannot be shown (%s); `dvc repro %s` measures it", stage, problem, stage)
    return problems


def draw_stage(stage: str) -> str:
    """Draw a stage's figures, and return what is wrong with its results, or nothing."""
    try:
        for figure in builders()[stage]().figures:
            figure.draw(FIGURES / f"{figure.name}.svg")
    except Exception as error:  # whatever a missing, foreign or damaged file leads to
        words = str(error).splitlines() or [""]
        return f"{type(error).__name__}: {words[0]}"
    return ""


def without_results(stage: str, problem: str) -> Section:
    """The section of a stage whose results are missing or damaged."""
    return Section(
        stage=stage,
        title=say("{stage}: no results to show", stage=stage),
        book="–",
        question=say("What is missing, and what measures it?"),
        findings=[
            say(
                "The files in reports/{stage} are missing or damaged ({problem}). `dvc repro"
                " --force {stage}` measures them anew.",
                stage=stage,
                problem=problem,
            )
        ],
        figures=[],
    )


def draw_samples(split: Split, path: Path, per_class: int = 14) -> None:
    """Draw the first images of each class, one class a row."""
    rows = [
        np.hstack(split.images[split.labels == label][:per_class]) for label in range(len(CLASSES))
    ]
    with figures.figure(path, 8, 5.6) as fig:
        axes = fig.add_subplot()
        axes.imshow(255 - np.vstack(rows), cmap="gray", vmin=0, vmax=255, interpolation="none")
        axes.set_yticks([28 * label + 14 for label in range(len(CLASSES))], CLASSES)
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
