"""What the page on replicas names: numbers, and what they decide."""

from pathlib import Path

from lab.report.benchmarks import read
from lab.report.language import say, translation
from lab.results.measurements import Measurement, Results
from lab.results.stats import ANY, POSITIVE, Ratio, median_of
from stages.replicas.measure.names import (
    ALIASING,
    IN_PLACE,
    MEANS,
    ONE_DEVICE,
    REBINDING,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
)

OF_TIMES = False
OUTCOMES = {"identical": (True, False)}


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/replicas)."""
    results, m = read(folder)
    apart, off = (results.curves(name) for name in ("apart", "from_one_device"))
    last = {name: float(curve.y[-1]) for name, curve in off.items()}
    n, change = m["num_devices"], of(results, "gradient_change", WITH_BATCH_NORM)
    statistics = of(results, "four_steps", "running statistics")
    cost, ran = batch_norm_cost(results), runs_without_gpu(results)
    concise = (
        results.series("without_gpu", "concise training, 1 GPU"),
        results.series("without_gpu", "concise training, 2 GPUs"),
    )
    return {
        "n": n,
        "steps": len(apart[REBINDING].x),
        "identical": not apart[IN_PLACE].y.any(),
        "book_apart": float(apart[IN_PLACE].y[-1]),
        "apart": float(apart[REBINDING].y[-1]),
        "rounding": last[IN_PLACE],
        "times_too_long": 2 ** (n - 1),  # one gradient, which the all-reduce adds to itself
        "change": median_of(change.values, POSITIVE),
        "change_without": of(results, "gradient_change", WITHOUT_BATCH_NORM).summary.median,
        "seeds": len(change.values),
        "images": m["gradient_images_per_device"],
        "norm_cost": cost,
        "norm_costs": "less" if cost.low > 0 else "more" if cost.high < 0 else "nothing",
        "statistics": 1e-6 * statistics.values[0],
        "statistics_steps": int(statistics.x),
        "summed": of(results, "one_step", "parameters summed for gradients").values[0],
        "variants": [
            {
                "name": name,
                "first": float(off[variant].y[0]),
                "last": last[variant],
                "apart": float(apart[variant].y[-1]),
            }
            for variant, name in variants().items()
        ],
        "programs": ran,
        "stopped": sum(bool(each["stops"]) for each in ran),
        "concise_runs": sum(int(m.values[0]) for [m] in concise),
    }


def variants() -> dict[str, str]:
    """The ways to train replicas, as the page calls them."""
    return {
        ALIASING: say("without a copy"),
        REBINDING: say("assigned (note 001)"),
        MEANS: say("mean of means"),
        IN_PLACE: say("in place (book)"),
    }


def of(results: Results, experiment: str, variant: str) -> Measurement:
    """A measurement that every run has."""
    [found] = results.series(experiment, variant)
    return found


def batch_norm_cost(results: Results) -> Ratio:
    """The accuracy of one device less that of several, with batch norm, in points, by seed."""
    one, several = (
        of(results, "norm_accuracy", variant).values
        for variant in (ONE_DEVICE, "several devices, as they are")
    )
    return median_of([a - b for a, b in zip(one, several, strict=True)], ANY)


def runs_without_gpu(results: Results) -> list[dict[str, str]]:
    """Each of the notes' programs, and the words of the error that stops it without a GPU."""
    names = {
        "products on try_gpu()": say("matrix multiplications on try_gpu()"),
        "products on try_gpu(), waited for": say(
            "matrix multiplications on try_gpu(), synchronized"
        ),
        "products on each device, waited for": say(
            "matrix multiplications on each device, synchronized"
        ),
        "copies to the CPU, waited for": say("copies to the CPU, synchronized"),
    }
    return [
        {"name": names.get(m.variant, translation(m.variant)), "stops": m.remark}
        for m in results.measurements
        if m.experiment == "without_gpu"
    ]
