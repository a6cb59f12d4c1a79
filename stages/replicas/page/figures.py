"""Figures and tables of the page on replicas."""

from lab.report import plots
from lab.report.language import say, translation
from lab.report.page import Figure
from lab.results.findings import Findings
from lab.results.measurements import Results
from stages.replicas.measure.names import IN_PLACE, REBINDING, VARIANTS, WITH_BATCH_NORM


def values(results: Results, found: Findings) -> dict[str, object]:
    apart, off = (results.curves(name) for name in ("apart", "from_one_device"))
    return {
        "steps": len(apart[REBINDING].x),
        "identical": not apart[IN_PLACE].y.any(),
        # the all-reduce adds the one gradient to itself
        "times_too_long": 2 ** (results.conditions["num_devices"] - 1),
        "images": [int(x) for x in results.xs("gradient_change", WITH_BATCH_NORM)],
        "statistics_steps": int(results.xs("four_steps", "running statistics")[0]),
        "variants": [
            {
                "name": variant,
                "first": float(off[variant].y[0]),
                "last": float(off[variant].y[-1]),
                "apart": float(apart[variant].y[-1]),
            }
            for variant in VARIANTS
        ],
        "programs": runs_without_gpu(results),
    }


def figures(results: Results, found: Findings) -> list[Figure]:
    curves = results.curves("from_one_device")
    drift = plots.lines(
        [
            plots.Line(translation(variant), curves[variant].x, curves[variant].y)
            for variant in VARIANTS
        ],
        say("Training step"),
        say("Largest difference of a weight"),
        xscale="log",
        yscale="log",
        height=3.5,
    )
    return [Figure("replicas_drift", [drift])]


def runs_without_gpu(results: Results) -> list[dict[str, str]]:
    """Return each of the notes' programs with the error message that stops it without a GPU."""
    return [
        {"name": m.variant, "stops": m.remark}
        for m in results.measurements
        if m.experiment == "without_gpu"
    ]
