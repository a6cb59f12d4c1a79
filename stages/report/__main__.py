"""Draw the figures and write the pages: `python -m stages.report [STAGE ...]`.

With names of stages, draw only their pages, in seconds, for a text's author.
"""

import argparse
import logging
import os
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from lab.claims.book_order import BOOK_ORDER
from lab.core.errors import ParamsError, SpaceError
from lab.core.files import REPORTS, write_atomically
from lab.core.process import die_with_parent, run
from lab.report.language import CHINESE, ENGLISH, locale
from lab.report.machines import warning_of
from lab.results.documents import disturbed_stages
from stages.report import about
from stages.report.dark_twin import dark_twin
from stages.report.evidence import Evidence, read_evidence
from stages.report.front_page import HERO
from stages.report.questions import Question, question
from stages.report.site import FOLDER, file_of

FIGURES = REPORTS / "figures"
LANGUAGES = (ENGLISH, CHINESE)
MOST_PROCESSES = 4  # more would take longer to start than to draw
# a forked process has matplotlib already; outside Linux, a fork may break threads
CONTEXT = get_context("fork" if sys.platform == "linux" else None)

log = logging.getLogger(__name__)

Questions = Mapping[str, Mapping[str, Question]]  # by language and stage


def draw(stages: Sequence[str], folders: Mapping[str, Path], evidence: Evidence) -> Questions:
    """Draw the pages of some stages in each language, with figures in the language's folder.

    Raises:
        SpaceError: a drawing process was killed.
    """
    num_processes = min(MOST_PROCESSES, os.cpu_count() or 1)
    draw_page = partial(draw_stage, folders=folders, evidence=evidence)
    try:
        # drawing is most of the work
        with ProcessPoolExecutor(num_processes, CONTEXT, die_with_parent) as pool:
            drawn = dict(zip(stages, pool.map(draw_page, stages), strict=True))
    except BrokenProcessPool:
        raise SpaceError(
            "a drawing process was killed, perhaps for lack of memory; run it again"
        ) from None
    return {language: {stage: drawn[stage][language] for stage in stages} for language in folders}


def draw_stage(stage: str, folders: Mapping[str, Path], evidence: Evidence) -> dict[str, Question]:
    """Draw a stage's page in each language."""
    found = {}
    for language, folder in folders.items():
        with locale(language):
            found[language] = question(stage, folder, evidence)
    return found


def main() -> None:
    """Draw all figures and pages, then put them in place of the earlier ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("stage", nargs="*", help="whose pages to draw; all pages if not given")
    chosen = parser.parse_args().stage
    if unknown := [name for name in chosen if name not in BOOK_ORDER]:
        raise ParamsError(f"{', '.join(unknown)}: no page; take some of {', '.join(BOOK_ORDER)}")
    evidence = read_evidence(REPORTS)
    with tempfile.TemporaryDirectory() as temporary:
        folders = {language: Path(temporary) / language for language in LANGUAGES}
        drawn = draw(chosen or BOOK_ORDER, folders, evidence)
        figures = {path.name: path.read_bytes() for path in folders[ENGLISH].glob("*")}
    pages = {
        file_of(stage, language): made.html
        for language, questions in drawn.items()
        for stage, made in questions.items()
    }
    if chosen:
        for page in pages:
            log.info("%s", REPORTS / page)
    else:
        for language, questions in drawn.items():
            with locale(language):
                pages |= about.pages(questions, evidence)
    for page, html in pages.items():
        write_atomically(REPORTS / page, html.encode())
    if not chosen:
        # for a code host and for links; a page has its figures inline
        if hero := figures.get(f"{HERO}.svg"):
            figures[f"{HERO}-dark.svg"] = dark_twin(hero.decode()).encode()
        for name, content in figures.items():
            write_atomically(FIGURES / name, content)
        _remove_others(FIGURES, "*", figures)
        _remove_others(REPORTS / FOLDER, "*.html", [Path(page).name for page in pages])
        _warn(drawn[ENGLISH], evidence)
        _tell_where(evidence)
    _fail(drawn)


def _remove_others(folder: Path, pattern: str, names: Collection[str]) -> None:
    for path in folder.glob(pattern):
        if path.name not in names:
            path.unlink()


def _warn(questions: Mapping[str, Question], evidence: Evidence) -> None:
    """Log what the pages had to leave out."""
    if warning := warning_of(evidence.machines):
        log.warning("%s", warning)
    for damaged in evidence.damaged:
        log.warning("left out: %s", damaged)
    if problems := [stage for stage, made in questions.items() if made.problem]:
        which = ", ".join(problems)
        log.warning("no usable results of %s; the page says what brings them", which)


def _tell_where(evidence: Evidence) -> None:
    """Log what to open, and which stages have times that decide nothing (`--noisy`)."""
    log.info("open %s", (REPORTS / "index.html").absolute())
    disturbed = disturbed_stages(REPORTS)
    if disturbed and not evidence.smoke:
        log.warning(
            "disturbed, so their times decide nothing: %s; when the machine is quiet: `invoke"
            " remeasure --noisy`",
            ", ".join(disturbed),
        )


def _fail(drawn: Questions) -> None:
    """Raise the errors of what could not be drawn, now that all else is."""
    failures = {
        str(error): error
        for questions in drawn.values()
        for made in questions.values()
        for error in made.failures
    }
    if failures:
        first = next(iter(failures.values()))
        raise type(first)("\n".join(failures))


if __name__ == "__main__":
    sys.exit(run(main))
