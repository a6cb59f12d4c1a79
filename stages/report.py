"""What did all the stages find? One self-contained page, a summary for a code host, and the figures.

Draws from the files that the other stages wrote and measures nothing, so it takes seconds, needs no torch, and
gives the same bytes for the same results. Each stage's part is made by `lab/report_<stage>.py`. What is missing or
damaged is named on the page; with `--strict` that ends in exit code 3.

Read `reports/index.html`, in Chinese `reports/index.zh.html` (a browser, no network), or `reports/README.md` (a
code host).
"""

import logging
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from lab import (
    catalogue,
    figures,
    report_bench_async,
    report_bench_collectives,
    report_bench_compile,
    report_bench_hardware,
    report_bench_input,
    report_bench_overlap,
    report_bench_parallel,
    report_bench_training,
    report_claims,
    report_convergence,
    report_landscapes,
    report_optimizers,
    report_parallelism,
    report_references,
    report_replicas,
    report_scaling,
    report_schedules,
    report_train,
)  # fmt: skip
from lab.data import CLASSES, Split, read_fashion_mnist, read_source
from lab.download import FASHION_FILES
from lab.errors import DataError
from lab.page import Section
from lab.params import PARAMS_FILE, read_yaml
from lab.records import HARDWARE_FILE, REPORTS, read_json, write_atomically
from lab.runner import run
from lab.svg import translated
from lab.words import ENGLISH, say, speaking, translation

TEMPLATES = Path(__file__).parent / "templates"
FIGURES = REPORTS / "figures"
MOST_PROCESSES = 4  # more start for longer than they draw

log = logging.getLogger(__name__)


Builders = dict[str, Callable[[], Section]]


def builders() -> Builders:
    """Return who makes each stage's section: the claims, then the stages in the book's order."""
    modules: dict[str, Callable[[Path], Section]] = {
        "claims": report_claims.section,
        "landscapes": report_landscapes.section,
        "optimizers": report_optimizers.section,
        "schedules": report_schedules.section,
        "bench_compile": report_bench_compile.section,
        "bench_async": report_bench_async.section,
        "bench_parallel": report_bench_parallel.section,
        "bench_overlap": report_bench_overlap.section,
        "bench_hardware": report_bench_hardware.section,
        "bench_input": report_bench_input.section,
        "replicas": report_replicas.section,
        "parallelism": report_parallelism.section,
        "convergence": report_convergence.section,
        "bench_training": report_bench_training.section,
        "bench_collectives": report_bench_collectives.section,
        "scaling": report_scaling.section,
    }
    runs = list(read_yaml(PARAMS_FILE)["train"]["runs"])
    made: Builders = {stage: partial(section, REPORTS / stage) for stage, section in modules.items()}
    made["train"] = lambda: report_train.section(REPORTS / "train", runs, read_fashion_mnist("t10k"))
    return made | {"references": partial(report_references.section, REPORTS)}


def draw_figures(stages: Sequence[str]) -> dict[str, str]:
    """Draw all stages' figures, and return what is wrong with the results of those that cannot be shown."""
    with ProcessPoolExecutor(min(MOST_PROCESSES, os.cpu_count() or 1)) as pool:  # drawing is most of the work
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
    """Return the section of a stage whose results are missing or damaged."""
    return Section(
        stage=stage,
        title=say("{stage}: no results to show", stage=stage),
        book="–",
        question=say("What is missing, and what measures it?"),
        findings=[
            say(
                "The files in reports/{stage} are missing or damaged ({problem}). `dvc repro --force {stage}`"
                " measures them anew.",
                stage=stage, problem=problem,
            )
        ],
        figures=[],
    )  # fmt: skip


def draw_samples(split: Split, path: Path, per_class: int = 14) -> None:
    """Draw the first images of each class, one class a row."""
    rows = [np.hstack(split.images[split.labels == label][:per_class]) for label in range(len(CLASSES))]
    with figures.figure(path, 8, 5.6) as fig:
        axes = fig.add_subplot()
        axes.imshow(255 - np.vstack(rows), cmap="gray", vmin=0, vmax=255, interpolation="none")
        axes.set_yticks([28 * label + 14 for label in range(len(CLASSES))], CLASSES)
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)


def inline(path: Path, alt: str) -> Markup:
    """Return an SVG file for the page: one element with a spoken name, in the page's own ink and paper."""
    svg = translated(path.read_text(encoding="utf-8"))
    svg = svg[svg.index("<svg") :].replace(figures.INK, "currentColor")
    for i, colour in enumerate(figures.COLOURS):
        svg = svg.replace(colour, f"var(--c{i})")  # the page has a lighter set for dark screens
    svg = re.sub(rf"fill: {figures.PAPER}(?=[;\"])", "fill: none", svg)
    name = Markup.escape(alt)
    return Markup(svg.replace("<svg", f'<svg role="img" aria-label="{name}"', 1))  # noqa: S704  (our own figure)


def machine_in_words(facts: Mapping[str, Any]) -> str:
    """Return the hardware in one line."""
    cpu, accelerator, software = facts["cpu"], facts["accelerator"], facts["software"]
    cores = [say("{n} usable cores", n=cpu["usable_cores"])]
    if cpu["quota_cores"]:
        cores.append(say("held to {n} cores by a quota", n=cpu["quota_cores"]))
    if cpu["omp_num_threads"]:
        cores.append(f"OMP_NUM_THREADS={cpu['omp_num_threads']}")
    return say(
        "{model} ({instructions}), {cores}, {ram} GiB; {gpus}; {os}, Python {python}, torch {torch}, torchvision"
        " {torchvision}",
        model=cpu["model"], instructions=cpu["instructions"], cores=say(", ").join(cores), ram=cpu["ram_gib"],
        gpus=say(", ").join(accelerator["names"] or []) or say("no GPU"), os=software["os"],
        python=software["python"], torch=software["torch"], torchvision=software["torchvision"],
    )  # fmt: skip


def main() -> None:
    """Draw the figures and write the pages."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=select_autoescape(["html.j2"]), keep_trailing_newline=True,
    )  # fmt: skip
    templates.globals.update(say=say, text=with_tags)
    made = builders()
    draw_samples(read_fashion_mnist("train"), FIGURES / "samples.svg")
    problems = draw_figures(list(made))
    for language, pages in ((ENGLISH, ("index.html", "README.md")), ("zh", ("index.zh.html",))):
        with speaking(language, catalogue.read(language)):
            sections = [
                without_results(stage, problems[stage]) if stage in problems else build()
                for stage, build in made.items()
            ]
            filled_in = content(language, sections)
            for page in pages:
                template = templates.get_template("README.md.j2" if page == "README.md" else "index.html.j2")
                write_atomically(REPORTS / page, template.render(filled_in).encode())
    if problems and "--strict" in sys.argv[1:]:
        raise DataError(
            f"no usable results of {', '.join(problems)}; `dvc repro` measures what is missing, as the page says"
        )


def with_tags(message: str, /, **values: object) -> Markup:
    """Return a message of the templates whose own tags are tags; what is filled in is text."""
    return Markup(translation(message)).format(**values)  # noqa: S704


def content(language: str, sections: Sequence[Section]) -> dict[str, Any]:
    """Return what the templates fill in, in the language that is spoken."""
    source, hardware = read_source(), read_json(HARDWARE_FILE)
    return {
        "language": language,
        "machine": machine_in_words(hardware),
        "virtual": hardware["accelerator"]["count"] == 0,
        "source": source,
        "synthetic": [name for name, origin in source.items() if origin == "synthetic"],
        "files": FASHION_FILES,
        "sections": sections,
        "verdicts": report_claims.by_stage(REPORTS / "claims"),
        "figures": FIGURES,
        "colours": figures.COLOURS,
        "inline": inline,
    }


if __name__ == "__main__":
    sys.exit(run(main))
