"""Draw the figures and write the pages: `python -m stages.report [--strict]`."""

import sys
import tempfile
from pathlib import Path

from lab.core.errors import DataError
from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_atomically
from lab.report.language import ENGLISH, speaking
from stages.report import catalogue, references
from stages.report.content import content, environment
from stages.report.sections import FIGURES, builders, draw_figures, samples, without_results

PAGES = {  # by language, each with its template
    ENGLISH: {"index.html": "index.html.j2", "README.md": "README.md.j2"},
    catalogue.CHINESE: {"index.zh.html": "index.html.j2"},
}


def main() -> None:
    """Draw the figures and write the pages."""
    templates = environment()
    made = builders()
    with tempfile.TemporaryDirectory() as others:
        # the English ones are files of their own, for a code host; the page holds all it shows
        folders = {language: Path(others) / language for language in PAGES} | {ENGLISH: FIGURES}
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
                    text = templates.get_template(template).render(filled_in)
                    write_atomically(REPORTS / page, text.encode())
    damaged = references.damaged_in(REPORTS)
    if problems:
        which = ", ".join(problems)
        damaged.append(f"no usable results of {which}; the page says what brings them")
    if damaged and "--strict" in sys.argv[1:]:
        raise DataError("\n".join(damaged))


if __name__ == "__main__":
    sys.exit(run(main))
