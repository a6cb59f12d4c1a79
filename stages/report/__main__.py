"""Draw the figures and write the pages: `python -m stages.report [--strict]`."""

import logging
import sys
import tempfile
from pathlib import Path

from lab.core.errors import DataError
from lab.core.files import REPORTS, write_atomically
from lab.core.process import run
from lab.report.language import ENGLISH, speaking
from lab.report.machines import machines_of, warning_of
from lab.results.documents import read_hardware
from stages.report import catalogue, references
from stages.report.content import content, environment
from stages.report.sections import FIGURES, builders, draw_figures, samples, without_results

log = logging.getLogger(__name__)

PAGES = {  # by language, each with its template
    ENGLISH: {"index.html": "index.html.j2", "README.md": "README.md.j2"},
    catalogue.CHINESE: {"index.zh.html": "index.html.j2"},
}


def replace_figures(drawn: Path) -> None:
    """Put the figures of a folder in place of those that an earlier report drew."""
    new = {path.name: path.read_bytes() for path in drawn.glob("*.svg")}
    for name, figure in new.items():
        write_atomically(FIGURES / name, figure)
    for left in FIGURES.glob("*.svg"):
        if left.name not in new:
            left.unlink()


def main() -> None:
    """Draw all figures and pages, then put them in place of the earlier ones."""
    templates = environment()
    made = builders()
    texts = {}
    with tempfile.TemporaryDirectory() as drawn:
        folders = {language: Path(drawn) / language for language in PAGES}
        problems = draw_figures(list(made), folders)
        for language, pages in PAGES.items():
            with speaking(language, catalogue.read(language)):
                sections = [
                    without_results(stage, problems[stage]) if stage in problems else build()
                    for stage, build in made.items()
                ]
                shown = samples()
                shown.draw(folders[language])
                filled_in = content(sections, shown, folders[language])
                for page, template in pages.items():
                    texts[page] = templates.get_template(template).render(filled_in)
        # the English ones are files of their own, for a code host; a page holds all that it shows
        replace_figures(folders[ENGLISH])
    for page, text in texts.items():
        write_atomically(REPORTS / page, text.encode())
    if warning := warning_of(machines_of(REPORTS, read_hardware())):
        log.warning("%s", warning)
    damaged = references.damaged_in(REPORTS)
    if problems:
        which = ", ".join(problems)
        damaged.append(f"no usable results of {which}; the page says what brings them")
    if damaged and "--strict" in sys.argv[1:]:
        raise DataError("\n".join(damaged))


if __name__ == "__main__":
    sys.exit(run(main))
