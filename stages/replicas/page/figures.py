"""The figure of the page on replicas."""

from pathlib import Path

from lab.report import plots
from lab.report.language import say
from lab.report.page import Figure
from lab.results.documents import read_results
from stages.replicas.page.values import variants


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/replicas)."""
    curves = read_results(folder).curves("from_one_device")
    drift = plots.lines(
        [
            plots.Line(name, list(curves[variant].x), list(curves[variant].y))
            for variant, name in variants().items()
        ],
        say("Training step"),
        say("Largest difference of a weight"),
        xscale="log",
        yscale="log",
        height=3.5,
    )
    return [Figure("replicas_drift", [drift])]
