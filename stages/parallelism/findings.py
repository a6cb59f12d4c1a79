"""The numbers derived from parallelism's rows."""

from dataclasses import replace
from math import isnan

from lab.results.findings import (
    AS_LONG,
    Finding,
    Samples,
    combine,
    exact,
    missing,
    ratio,
    share_of_cases,
)
from lab.results.measurements import Results
from lab.results.reasons import NOT_MEASURED, Reason
from lab.results.stats import SMALLEST_EFFECT, Range
from stages.parallelism.measure.names import (
    DATA,
    DENSE,
    INCEPTION_OVER_RESNET,
    LENET,
    NOTES_ALLREDUCE,
    PIPELINE,
    RANKED,
    RESNET_OVER_ALEXNET,
    TENSOR,
)
from stages.parallelism.measure.schedule import idle_share, schedule

METRICS = ("pipeline_idle_by_flop_percent", INCEPTION_OVER_RESNET, RESNET_OVER_ALEXNET)
OF_TIMES = False  # bytes are counted
FEW = 2  # micro-batches, for comparison
ROUNDING_UNITS, TIMES_THE_NEXT = "float64 rounding units", "times the next network's"


def findings(results: Results) -> dict[str, Finding]:
    def step(net: str, kind: str) -> Samples:
        return results.samples("step", kind, net=net)

    pipeline, tensor = step(LENET, PIPELINE), step(DENSE, TENSOR)
    data, data_of_dense = step(LENET, DATA), step(DENSE, DATA)
    over_data = [
        ratio(step(net, kind), step(net, DATA), AS_LONG)
        for net in (LENET, DENSE)
        for kind in (PIPELINE, TENSOR)
    ]
    one_evaluates, both_evaluate = (
        results.samples("evaluation", f"on {which}") for which in ("one device", "both devices")
    )
    replicas, split = (results.samples("state", kind, devices=2) for kind in (DATA, PIPELINE))
    roundings = [m.values for m in results.measurements if m.experiment == "gradient"]
    inception, resnet, alexnet = (
        [results.samples("FLOP per byte", name) for name in names] for names in RANKED
    )
    over_resnet = combine(min, *inception) / combine(max, *resnet)
    over_alexnet = combine(min, *resnet) / alexnet[0]
    longest, fewest = longest_pipeline(results), min(device_counts(results), default=0)
    idle_by_flop = results.samples(
        "idle by FLOP", PIPELINE, devices=longest[0], micro_batches=longest[1]
    )
    return {
        "pipeline_idle_percent": idle_percent(*longest),
        "idle_of_few_percent": idle_percent(longest[0], FEW),
        "pipeline_idle_by_flop_percent": exact(idle_by_flop, "%", better="less"),
        INCEPTION_OVER_RESNET: exact(over_resnet, TIMES_THE_NEXT),
        RESNET_OVER_ALEXNET: exact(over_alexnet, TIMES_THE_NEXT),
        "closest_neighbours": exact(combine(min, over_resnet, over_alexnet), TIMES_THE_NEXT),
        "data_parallel_difference": farthest(results.samples("gradient", DATA), 0, ROUNDING_UNITS),
        "largest_difference": farthest(Samples(sum(roundings, ())), 0, ROUNDING_UNITS),
        "evaluation_speedup": ratio(one_evaluates, both_evaluate),
        "data_parallel_faster_percent": share_of_cases(over_data, Range(low=1 + SMALLEST_EFFECT)),
        "pipeline_over_data": ratio(pipeline, data, AS_LONG),
        "tensor_over_data": ratio(tensor, data_of_dense, AS_LONG),
        "replicas_over_pipeline": exact(replicas / split, "times as many MB"),
        "others_move": farthest(
            results.samples("others move", NOTES_ALLREDUCE), 1, "times the gradient"
        ),
        "pipeline_crossing_images": crossing_batch(results, PIPELINE, fewest),
        "tensor_crossing_images": crossing_batch(results, TENSOR, fewest),
    }


def farthest(counted: Samples, target: float, unit: str) -> Finding:
    """Return the number farthest from `target`."""
    ordered = sorted(counted.values, key=lambda number: (isnan(number), abs(number - target)))
    return exact(replace(counted, values=tuple(ordered[-1:])), unit)


def device_counts(results: Results) -> list[int]:
    """Return the numbers of devices that LeNet is split over, ascending."""
    found = results.series("sent", DATA, net=LENET)
    return sorted({int(m.columns["devices"]) for m in found})


def longest_pipeline(results: Results) -> tuple[int, int]:
    """Return a pipeline's most devices and most micro-batches; (0, 0) if none was measured."""
    found = results.series("idle by FLOP", PIPELINE)
    counts = [(int(m.columns["devices"]), int(m.columns["micro_batches"])) for m in found]
    return max(counts, default=(0, 0))


def idle_percent(devices: int, micro_batches: int) -> Finding:
    """Return the share of time that devices wait, if their parts take equally long."""
    if not devices:
        return missing(Reason(NOT_MEASURED, "a pipeline"), "%")
    idle = idle_share(schedule([1.0] * devices, micro_batches))
    return exact(100 * idle, "%", better="less")


def crossing_batch(results: Results, kind: str, devices: int) -> Finding:
    """Return the batch size above which a kind sends more for LeNet than data parallelism.

    The line through the kind's two batch sizes meets data parallelism's constant there, for any
    number of micro-batches.
    """
    sent = results.series("sent", kind, net=LENET, devices=devices)
    if not sent:
        return missing(Reason(NOT_MEASURED, f"{kind}, {devices} devices"), "images")
    few, many = sent[0], sent[-1]
    level = results.series("sent", DATA, net=LENET, devices=devices)[0].values[0]
    slope = (many.values[0] - few.values[0]) / (many.x - few.x)
    return exact(few.x + (level - few.values[0]) / slope, "images")
