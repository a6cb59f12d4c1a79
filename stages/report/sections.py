"""The page's sections, found by their stages' names, and their figures, drawn side by side."""

import importlib
import itertools
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import numpy as np

from lab.claims.book_order import BOOK_ORDER, HEADING_OF, HEADINGS
from lab.core.errors import DataError, SpaceError
from lab.core.files import METRICS, REPORTS
from lab.core.process import die_with_parent
from lab.data.datasets import CLASSES, Split, is_fetched, read_fashion_mnist
from lab.report import figures
from lab.report.benchmarks import without_times
from lab.report.language import say, speaking, translation
from lab.report.page import Figure, Section
from lab.results.documents import read_metrics
from stages.report import catalogue, references, retest

FIGURES = REPORTS / "figures"
MEASURED = ("claims", *BOOK_ORDER)  # the sections that are of a stage, which makes them anew
MOST_PROCESSES = 4  # more start for longer than they draw
SAMPLES_PER_CLASS = 10
GREYS = 8  # of the samples: enough to see what they show, a fifth of the bytes

log = logging.getLogger(__name__)

Builders = dict[str, Callable[[], Section]]


def groups() -> dict[str, Sequence[str]]:
    """The page's sections in its order, under the headings of its contents.

    Raises:
        DataError: a stage has a section, but no place in the book's order.
    """
    for path in sorted(Path(__file__).parents[1].glob("*/page/section.py")):
        if path.parents[1].name not in MEASURED:
            raise DataError(
                f"{path.parents[1].name}: has a section that the page has no place for; add it to"
                " lab/claims/book_order.py"
            )
    found: dict[str, Sequence[str]] = {}
    for heading in HEADINGS:
        found[translation(heading)] = [s for s in BOOK_ORDER if HEADING_OF[s] == heading]
    return found | {say("Claims"): ["claims", "retest", "references"]}


def builders() -> Builders:
    """Who makes each section: the claims', the stages', and those on other runs.

    A stage's is `section` of stages/<name>/page/section.py, which is given the stage's folder under
    reports.
    """
    made: Builders = {stage: partial(_of_stage, stage) for stage in MEASURED}
    made["retest"] = partial(retest.section, REPORTS / "retest")
    if references.references_in(REPORTS) or references.damaged_in(REPORTS):
        made["references"] = partial(references.section, REPORTS)
    return {stage: made[stage] for stages in groups().values() for stage in stages if stage in made}


def _of_stage(stage: str) -> Section:
    """A stage's own section, with nothing that times would decide where they decide nothing."""
    folder = REPORTS / stage
    section: Section = importlib.import_module(f"stages.{stage}.page.section").section(folder)
    there = (folder / METRICS).is_file()
    return without_times(section, read_metrics(folder)) if there else section


def draw_figures(stages: Sequence[str], folders: dict[str, Path]) -> dict[str, str]:
    """Draw all stages' figures in each language, into its folder.

    Returns:
        What is wrong with the results of the stages that cannot be shown.

    Raises:
        SpaceError: a process that draws was killed.
    """
    jobs = list(itertools.product(stages, folders))
    words = zip(*[(stage, lang, folders[lang]) for stage, lang in jobs], strict=True)
    num_processes = min(MOST_PROCESSES, os.cpu_count() or 1)
    try:
        # drawing is most of the work
        with ProcessPoolExecutor(num_processes, initializer=die_with_parent) as pool:
            found = list(pool.map(draw_stage, *words))
    except BrokenProcessPool:
        raise SpaceError(
            "a process that draws was killed, perhaps for want of memory; run it again"
        ) from None
    problems = {stage: problem for (stage, _), problem in zip(jobs, found, strict=True) if problem}
    for stage, problem in problems.items():
        mend = f"; `dvc repro --force {stage}` measures it" if stage in MEASURED else ""
        log.warning("%s cannot be shown (%s)%s", stage, problem, mend)
    return problems


def draw_stage(stage: str, language: str, folder: Path) -> str:
    """Draw a stage's figures, and return what is wrong with its results, or nothing."""
    try:
        with speaking(language, catalogue.read(language)):
            for figure in builders()[stage]().figures:
                figure.draw(folder)
    except Exception as error:  # whatever a missing, foreign or damaged file leads to
        words = str(error).splitlines() or [""]
        return f"{type(error).__name__}: {words[0]}"
    return ""


def without_results(stage: str, problem: str) -> Section:
    """The section of a stage, or of other runs, whose results are missing or damaged."""
    answer = say(
        "The files in reports/{stage} are missing or damaged ({problem}).",
        stage=stage,
        problem=problem,
    )
    if stage in MEASURED:
        answer = say(
            "The files in reports/{stage} are missing or damaged ({problem}). `dvc repro"
            " --force {stage}` measures them again.",
            stage=stage,
            problem=problem,
        )
    return Section(
        stage=stage,
        title=say("{stage}: no results to show", stage=stage),
        book="–",
        question=say("What is missing, and what measures it?"),
        answer=answer,
        findings=[],
        figures=[],
    )


def samples() -> Figure:
    """The first training images of each class; no panel in a clone, which has no data yet."""
    alt = say("The first training images of each of the ten classes.")
    if is_fetched():
        return Figure("samples", alt, "", [partial(draw_samples, read_fashion_mnist("train"))])
    caption = say("Not drawn: the data are not here. `invoke repro --stage fetch` brings them.")
    return Figure("samples", alt, caption, [])


def draw_samples(split: Split, path: Path) -> None:
    """Draw the first images of each class, one class a row."""
    rows = [
        np.hstack(split.images[split.labels == label][:SAMPLES_PER_CLASS])
        for label in range(len(CLASSES))
    ]
    image = np.round((255 - np.vstack(rows)) / 255 * (GREYS - 1))
    with figures.figure(path, figures.WIDTH, 4) as fig:
        axes = fig.add_subplot()
        axes.imshow(image, cmap="gray", vmin=0, vmax=GREYS - 1, interpolation="none")
        axes.set_yticks(
            [28 * label + 14 for label in range(len(CLASSES))], map(translation, CLASSES)
        )
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
