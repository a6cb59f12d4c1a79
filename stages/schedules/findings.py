"""The numbers derived from schedules' rows."""

from dataclasses import replace
from statistics import median as middle

from lab.results.findings import POINTS, Finding, Over, Samples, difference, median, ratio
from lab.results.measurements import Results
from lab.results.stats import PERCENT
from stages.schedules.measure.names import AS_THE_BOOK, CONSTANT, NO_WARM_UP, WARM_UP

METRICS = (
    *("best_accuracy_percent", "constant_accuracy_percent"),
    *("lenet_warm_up_gain", "resnet18_warm_up_gain"),
)
AS_HIGH = "times as high a learning rate"


def findings(results: Results) -> dict[str, Finding]:
    def accuracy(schedule: str) -> Samples:
        return results.samples("schedule_accuracy", schedule)

    def judged(schedule: str) -> Finding:
        """Return the accuracy over the half of the seeds that did not choose the best schedule."""
        found = accuracy(schedule)
        half = replace(found, values=found.values[len(found.values) // 2 :])
        return median(half, "% of the test images", Over.SEEDS, PERCENT, "more")

    def points(one: str, other: str) -> Finding:
        return difference(accuracy(one), accuracy(other), POINTS, better="more")

    def highest(net: str, variant: str) -> Samples:
        return results.samples("highest_stable_rate", variant, net=net)

    def warm_up_gain(net: str) -> Finding:
        warm, plain = (highest(net, variant) for variant in (WARM_UP, NO_WARM_UP))
        return ratio(warm, plain, AS_HIGH, Over.SEEDS, "more")

    lenet, resnet = (highest(net, NO_WARM_UP) for net in ("lenet", "resnet18"))
    common = min(len(lenet.values), len(resnet.values))  # seeds that both have
    lenet, resnet = (replace(each, values=each.values[:common]) for each in (lenet, resnet))

    def onset(times: float) -> Finding:
        """Return when a run diverges at `times` the lowest diverging rate."""
        samples = results.samples("divergence_onset", NO_WARM_UP, times, net="lenet")
        return median(samples, "% of the run", Over.SEEDS, PERCENT)

    return {
        "best_accuracy_percent": judged(best_schedule(results)),
        "constant_accuracy_percent": judged(CONSTANT),
        "cosine_gain": points("cosine", CONSTANT),
        "late_gain": points(AS_THE_BOOK, "cosine, warm-up"),
        "lenet_warm_up_gain": warm_up_gain("lenet"),
        "resnet18_warm_up_gain": warm_up_gain("resnet18"),
        "lenet_over_resnet18": ratio(lenet, resnet, AS_HIGH, Over.SEEDS),
        "divergence_onset": onset(1),
        "divergence_onset_at_twice": onset(2),
        "divergence_onset_at_four_times": onset(4),
    }


def best_schedule(results: Results) -> str:
    """Return the schedule, set in time, with LeNet's best accuracy over the first half of seeds."""
    each = {
        name: results.samples("schedule_accuracy", name).values
        for name in results.variants("schedule_accuracy")
        if name != AS_THE_BOOK
    }
    chosen_by = {
        name: middle(values[: len(values) // 2]) for name, values in each.items() if len(values) > 1
    }
    return max(chosen_by, key=lambda name: chosen_by[name], default=CONSTANT)
