"""Draw the figures and write the pages: `python -m stages.report [--strict]`."""

import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from lab.core.errors import DataError
from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_atomically
from lab.data.datasets import read_fashion_mnist
from lab.report.language import ENGLISH, say, speaking
from stages.report import catalogue
from stages.report.content import content, with_tags
from stages.report.sections import FIGURES, builders, draw_figures, draw_samples, without_results

TEMPLATES = Path(__file__).parent / "templates"


def main() -> None:
    """Draw the figures and write the pages."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=select_autoescape(["html.j2"]),
        keep_trailing_newline=True,
    )
    templates.globals.update(say=say, text=with_tags)
    made = builders()
    draw_samples(read_fashion_mnist("train"), FIGURES / "samples.svg")
    problems = draw_figures(list(made))
    for language, pages in (
        (ENGLISH, ("index.html", "README.md")),
        (catalogue.CHINESE, ("index.zh.html",)),
    ):
        with speaking(language, catalogue.read(language)):
            sections = [
                without_results(stage, problems[stage]) if stage in problems else build()
                for stage, build in made.items()
            ]
            filled_in = content(language, sections)
            for page in pages:
                template = templates.get_template(
                    "README.md.j2" if page == "README.md" else "index.html.j2"
                )
                write_atomically(REPORTS / page, template.render(filled_in).encode())
    if problems and "--strict" in sys.argv[1:]:
        raise DataError(
            f"no usable results of {', '.join(problems)}; `dvc repro` measures what is missing, as"
            f" the page says"
        )


if __name__ == "__main__":
    sys.exit(run(main))
