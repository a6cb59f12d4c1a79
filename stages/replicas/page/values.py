"""What the page on replicas names beside findings."""

from collections.abc import Mapping

from lab.report.language import say, translation
from lab.results.findings import Finding
from lab.results.measurements import Results
from stages.replicas.measure.names import ALIASING, IN_PLACE, MEANS, REBINDING

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
        "images": results.conditions["gradient_images_per_device"],
        "norm_costs": "less" if cost.low > 0 else "more" if cost.high < 0 else "nothing",
        "statistics_steps": int(results.xs("four_steps", "running statistics")[0]),
        "variants": [
            {
                "name": name,
                "first": float(off[variant].y[0]),
                "last": float(off[variant].y[-1]),
                "apart": float(apart[variant].y[-1]),
            }
            for variant, name in variants().items()
        ],
        "programs": runs_without_gpu(results),
    }


def variants() -> dict[str, str]:
    """The ways to train replicas, as the page calls them."""
    return {
        ALIASING: say("without a copy"),
        REBINDING: say("assigned (note 001)"),
        MEANS: say("mean of means"),
        IN_PLACE: say("in place (book)"),
    }


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
