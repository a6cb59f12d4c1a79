"""The numbers that replicas's rows give, each derived once."""

from lab.results.findings import POINTS, Finding, Over, Samples, combine, difference, exact, median
from lab.results.measurements import Results
from lab.results.stats import PERCENT
from stages.replicas.measure.names import (
    ALIASING,
    IN_PLACE,
    ONE_DEVICE,
    PROGRAMS,
    REBINDING,
    WITH_BATCH_NORM,
    WITHOUT_BATCH_NORM,
)

METRICS = ("all_reduce_rebinds_from_one_device_millionths", "batch_norm_gradient_change_percent")
IN_A_WEIGHT = "in a weight (largest difference)"
IN_A_STATISTIC = "in a running statistic (largest difference)"


def findings(results: Results) -> dict[str, Finding]:
    def at_the_end(experiment: str, variant: str) -> Samples:
        """The difference after the last step."""
        last = max(results.xs(experiment, variant), default=None)
        return results.samples(experiment, variant, last)

    def in_a_weight(experiment: str, variant: str) -> Finding:
        return exact(at_the_end(experiment, variant), IN_A_WEIGHT, "less")

    def cell(name: str, unit: str) -> Finding:
        return exact(results.samples("cells", name), unit)

    def gradient_change(net: str) -> Finding:
        samples = results.samples("gradient_change", net)
        return median(samples, "% of the gradient's length", Over.SEEDS)

    def accuracy(variant: str) -> Samples:
        """That of the first replica, which the notes test."""
        return results.samples("accuracy", variant, replica=1)

    def as_one_device(variant: str) -> Finding:
        return difference(accuracy(variant), accuracy(ONE_DEVICE), POINTS, better="more")

    def that_run(*programs: str) -> Samples:
        """How many of the notes' programs run without a GPU."""
        each = (results.samples("without_gpu", program) for program in programs)
        return combine(lambda *ran: sum(ran), *each)

    parallel = that_run(
        "matrices on two devices",
        "matrix multiplications on each device, synchronized",
        "copies to the CPU, synchronized",
    )
    concise = that_run("concise training, 1 GPU", "concise training, 2 GPUs")
    stopping = combine(lambda ran: len(PROGRAMS) - ran, that_run(*PROGRAMS))
    summed = results.samples("one_step", "parameters summed for gradients")
    statistics = results.samples("four_steps", "running statistics") * 1e-6
    alone, beside_others = (
        results.samples("norm_accuracy", variant)
        for variant in (ONE_DEVICE, "several devices, as they are")
    )
    millionths = at_the_end("from_one_device", REBINDING) * 1e6
    return {
        "in_place_from_one_device": in_a_weight("from_one_device", IN_PLACE),
        "aliasing_from_one_device": in_a_weight("from_one_device", ALIASING),
        "in_place_apart": in_a_weight("apart", IN_PLACE),
        "rebinding_apart": in_a_weight("apart", REBINDING),
        "all_reduce_rebinds_from_one_device_millionths": exact(
            millionths, "millionths in a weight", "less"
        ),
        "parameters_summed_percent": exact(summed, "% of the weights' length", "less"),
        "statistics_apart": exact(statistics, IN_A_STATISTIC, "less"),
        "batch_norm_gradient_change_percent": gradient_change(WITH_BATCH_NORM),
        "lenet_gradient_change_percent": gradient_change(WITHOUT_BATCH_NORM),
        "batch_norm_cost_points": difference(alone, beside_others, POINTS, better="less"),
        "one_device_accuracy_percent": median(
            accuracy(ONE_DEVICE), "% of the test images", Over.SEEDS, PERCENT, "more"
        ),
        "in_place_over_one_device_points": as_one_device(IN_PLACE),
        "rebinding_over_one_device_points": as_one_device(REBINDING),
        "gradients_of_zeros": cell("gradients that are zeros", "of the 8 gradients"),
        "fuller_device_percent": cell(
            "% of the rows on the fuller device", "% of the rows on the fuller device"
        ),
        "accuracies_printed": cell("formats with a blank that print", "of 1 accuracy printed"),
        "evaluating_gpus": cell("devices that compute an accuracy", "of the 2 GPUs"),
        "parallel_programs_that_run": exact(parallel, "of the 3 programs run without a GPU"),
        "concise_calls_that_run": exact(concise, "of the 2 calls run without a GPU"),
        "programs_that_stop": exact(stopping, "of the 12 programs stop"),
    }
