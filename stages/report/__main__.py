"""Draw the figures and write the pages: `python -m stages.report [STAGE ...]`.

With names of stages the pages of these alone are drawn, in seconds, for who writes their text.
"""

import argparse
import itertools
import logging
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from lab.claims.book_order import BOOK_ORDER
from lab.core.errors import LabError, ParamsError, SpaceError
from lab.core.files import REPORTS, write_atomically
from lab.core.process import die_with_parent, run
from lab.report.language import CHINESE, ENGLISH, speaking
from lab.report.machines import machines_of, warning_of
from lab.results.documents import read_hardware
from stages.report import about
from stages.report.questions import Question, question
from stages.report.references import references_in
from stages.report.site import file_of

FIGURES = REPORTS / "figures"
LANGUAGES = (ENGLISH, CHINESE)
MOST_PROCESSES = 4  # more start for longer than they draw

log = logging.getLogger(__name__)


def draw(stages: Sequence[str], folders: Mapping[str, Path]) -> dict[str, dict[str, Question]]:
    """Draw the pages of some stages in each language, their figures into its folder.

    Returns:
        The pages by language and stage.

    Raises:
        SpaceError: a process that draws was killed.
    """
    jobs = list(itertools.product(stages, folders))
    words = zip(*[(stage, language, folders[language]) for stage, language in jobs], strict=True)
    num_processes = min(MOST_PROCESSES, os.cpu_count() or 1)
    try:
        # drawing is most of the work
        with ProcessPoolExecutor(num_processes, initializer=die_with_parent) as pool:
            found = dict(zip(jobs, pool.map(draw_one, *words), strict=True))
    except BrokenProcessPool:
        raise SpaceError(
            "a process that draws was killed, perhaps for want of memory; run it again"
        ) from None
    return {language: {stage: found[stage, language] for stage in stages} for language in folders}


def draw_one(stage: str, language: str, folder: Path) -> Question:
    """Draw one page in one language."""
    with speaking(language):
        return question(stage, folder)


def replace(folder: Path, made: Mapping[str, bytes], pattern: str) -> None:
    """Put files in place of those that an earlier report left in a folder."""
    for name, content in made.items():
        write_atomically(folder / name, content)
    for left in folder.glob(pattern):
        if left.name not in made:
            left.unlink()


def main() -> None:
    """Draw all figures and pages, then put them in place of the earlier ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("stage", nargs="*", help="whose pages to draw; all pages if not given")
    chosen = parser.parse_args().stage
    if unknown := [name for name in chosen if name not in BOOK_ORDER]:
        raise ParamsError(f"{', '.join(unknown)}: no page; take some of {', '.join(BOOK_ORDER)}")
    with tempfile.TemporaryDirectory() as temporary:
        folders = {language: Path(temporary) / language for language in LANGUAGES}
        drawn = draw(chosen or BOOK_ORDER, folders)
        pages = {
            file_of(stage, language): made.html
            for language, questions in drawn.items()
            for stage, made in questions.items()
        }
        figures = {path.name: path.read_bytes() for path in folders[ENGLISH].glob("*.svg")}
        if not chosen:
            for language, questions in drawn.items():
                with speaking(language):
                    pages |= about.pages(questions)
    if chosen:
        for page, html in pages.items():
            write_atomically(REPORTS / page, html.encode())
            log.info("%s", REPORTS / page)
        _fail(drawn)
        return
    # the English figures are files of their own, for a code host; a page holds all that it shows
    replace(FIGURES, figures, "*.svg")
    beside = {Path(page).name: html.encode() for page, html in pages.items() if "/" in page}
    replace(REPORTS / "pages", beside, "*.html")
    for page, text in pages.items():
        if "/" not in page:
            write_atomically(REPORTS / page, text.encode())
    _warn(drawn[ENGLISH])
    _fail(drawn)


def _warn(questions: Mapping[str, Question]) -> None:
    """Say what the pages had to leave out."""
    if warning := warning_of(machines_of(REPORTS, read_hardware())):
        log.warning("%s", warning)
    for damaged in references_in(REPORTS).damaged:
        log.warning("left out: %s", damaged)
    if problems := [stage for stage, made in questions.items() if made.problem]:
        which = ", ".join(problems)
        log.warning("no usable results of %s; the page says what brings them", which)


def _fail(drawn: Mapping[str, Mapping[str, Question]]) -> None:
    """Raise what could not be drawn, now that all else is."""
    failures = dict.fromkeys(
        each
        for questions in drawn.values()
        for made in questions.values()
        for each in made.failures
    )
    if failures:
        error = LabError("\n".join(each.message for each in failures))
        error.exit_code = next(iter(failures)).exit_code
        raise error


if __name__ == "__main__":
    sys.exit(run(main))
