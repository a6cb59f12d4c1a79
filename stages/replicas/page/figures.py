"""The figure of the page on replicas."""

from pathlib import Path

from lab.report import plots
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.documents import read_results
from stages.replicas.measure.names import VARIANTS


def figures(folder: Path) -> list[Figure]:
    """The figures of `folder` (reports/replicas)."""
    curves = read_results(folder).curves("from_one_device")
    drift = plots.lines(
        [
            plots.Line(translation(variant), list(curves[variant].x), list(curves[variant].y))
            for variant in VARIANTS
        ],
        say("Training step"),
        say("Largest difference of a weight"),
        xscale="log",
        yscale="log",
        height=3.5,
    )
    return [Figure("replicas_drift", [drift])]
