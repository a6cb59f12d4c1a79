"""The numbers derived from replicas' rows."""

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
OF_TIMES = False
IN_A_WEIGHT = "in a weight (largest difference)"
IN_A_STATISTIC = "in a running statistic (largest difference)"


def findings(results: Results) -> dict[str, Finding]:
    def at_the_end(experiment: str, variant: str) -> Samples:
        last = max(results.xs(experiment, variant), default=None)
        return results.samples(experiment, variant, last)

    def in_a_weight(experiment: str, variant: str) -> Finding:
        return exact(at_the_end(experiment, variant), IN_A_WEIGHT, "less")

    def cell(name: str, unit: str) -> Finding:
        return exact(results.samples("cells", name), unit)

    counts = results.xs("gradient_change", WITH_BATCH_NORM)
    fewest, most = min(counts, default=None), max(counts, default=None)

    def gradient_change(net: str, images: float | None) -> Finding:
        samples = results.samples("gradient_change", net, images)
        return median(samples, "% of the gradient's norm", Over.SEEDS)

    def accuracy(variant: str) -> Samples:
        """Return the first replica's accuracy: the notes test only this one."""
        return results.samples("accuracy", variant, replica=1)

    def as_one_device(variant: str) -> Finding:
        return difference(accuracy(variant), accuracy(ONE_DEVICE), POINTS, better="more")

    def that_run(*programs: str) -> Samples:
        """Count the notes' programs that run without a GPU."""
        each = (results.samples("without_gpu", program) for program in programs)
        return combine(lambda *ran: sum(ran), *each)

    def that_stop(*programs: str) -> Samples:
        return combine(lambda ran: len(programs) - ran, that_run(*programs))

    parallel = that_run(
        "matrices on two devices",
        "matrix multiplications on each device, synchronized",
        "copies to the CPU, synchronized",
    )
    of_note_001 = [name for name, places in PROGRAMS.items() if "001:" in places]
    summed = results.samples("one_step", "parameters summed for gradients")
    statistics = results.samples("four_steps", "running statistics") * 1e-6
    alone, beside_others, apart = (
        results.samples("norm_accuracy", variant)
        for variant in (
            ONE_DEVICE,
            "several devices, as they are",
            "several devices, batch norm of their own",
        )
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
        "parameters_summed_percent": exact(summed, "% of the weights' norm", "less"),
        "statistics_apart": exact(statistics, IN_A_STATISTIC, "less"),
        "batch_norm_gradient_change_percent": gradient_change(WITH_BATCH_NORM, fewest),
        "batch_norm_gradient_change_percent_of_more_images": gradient_change(WITH_BATCH_NORM, most),
        "lenet_gradient_change_percent": gradient_change(WITHOUT_BATCH_NORM, fewest),
        "batch_norm_cost_points": difference(alone, beside_others, POINTS, better="less"),
        "batch_norm_apart_gain_points": difference(apart, beside_others, POINTS, better="more"),
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
        **{
            f"concise_call_for_two_{where}": exact(
                results.samples(where, "concise training, 2 GPUs"), "of 1 call runs"
            )
            for where in ("without_gpu", "with_one_gpu")
        },
        "programs_that_stop": exact(that_stop(*PROGRAMS), "of the 12 programs stop"),
        "programs_of_note_001_that_stop": exact(
            that_stop(*of_note_001), f"of the {len(of_note_001)} programs of note 001 stop"
        ),
    }
