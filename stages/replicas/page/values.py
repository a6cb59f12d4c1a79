"""What the page on replicas names beside findings."""

from collections.abc import Mapping

from lab.results.findings import Finding
from lab.results.measurements import Results
from stages.replicas.measure.names import IN_PLACE, REBINDING, VARIANTS, WITH_BATCH_NORM

OF_TIMES = False
OUTCOMES = {"identical": (True, False)}


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    apart, off = (results.curves(name) for name in ("apart", "from_one_device"))
    n, cost = results.conditions["num_devices"], found["batch_norm_cost_points"]
    return {
        "n": n,
        "steps": len(apart[REBINDING].x),
        "identical": not apart[IN_PLACE].y.any(),
        "times_too_long": 2 ** (n - 1),  # one gradient, which the all-reduce adds to itself
        "seeds": found["batch_norm_gradient_change_percent"].n,
        "images": [int(x) for x in results.xs("gradient_change", WITH_BATCH_NORM)],
        "norm_costs": "less" if cost.low > 0 else "more" if cost.high < 0 else "nothing",
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


def runs_without_gpu(results: Results) -> list[dict[str, str]]:
    """Each of the notes' programs, and the words of the error that stops it without a GPU."""
    return [
        {"name": m.variant, "stops": m.remark}
        for m in results.measurements
        if m.experiment == "without_gpu"
    ]
