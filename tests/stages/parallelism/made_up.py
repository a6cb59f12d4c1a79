"""Made-up results of parallelism, as a CPU or a GPU would leave them."""

from collections.abc import Mapping
from pathlib import Path

from lab.core.files import Metrics, write_metrics, write_rows
from lab.machine.devices import DeviceKind
from lab.results.curves import Curve, line, rows_of
from lab.results.measurements import again
from stages.parallelism import __main__ as parallelism
from stages.parallelism.measure.names import (
    ACTIVATIONS_MB,
    ALEXNET,
    BUSIEST_ADDS,
    BY_HAND,
    COUNTED,
    DATA,
    DIFFERENCE_EPS,
    EVALUATION_MS,
    FLOP_PER_BYTE,
    FULLY_SHARD,
    GOOGLENET,
    HELD_MB,
    IDLE_BY_FLOP_PERCENT,
    IDLE_PERCENT,
    INCEPTION_V3,
    LARGEST_SHARD,
    LEAST_PARAMS_MB,
    LENET,
    LENET_STEP_MS,
    MOST_SENT,
    MOVED_MB,
    NOTES_ALLREDUCE,
    ON_BOTH,
    ON_ONE,
    ONE,
    OTHERS_MOVE,
    PARALLELIZE,
    PARAMS_MB,
    PIPELINE,
    PIPELINING,
    RESNET_18,
    RESNET_50,
    SHARDED_ALLREDUCE,
    SHARE_OF_FLOP,
    SMALL_RESNET_18,
    SMALLEST_SHARD,
    TENSOR,
    TORCH_STEP_MS,
    WIDE_CALLS,
    WIDE_MODEL_MB,
    WIDE_MOVED_MB,
    WIDE_STATE_MB,
    WIDE_STEP_MS,
    in_micro_batches,
    on_devices,
)
from stages.parallelism.measure.params import ParallelismParams

PARALLELISM = ParallelismParams(
    num_devices=[2, 3], batch_sizes=[16, 256], num_micro_batches=4, wide_units=8
)
IN_PARTS = in_micro_batches(PARALLELISM.num_micro_batches)
RATIOS = {
    LENET: 20,
    SMALL_RESNET_18: 60,
    ALEXNET: 10,
    GOOGLENET: 300,
    INCEPTION_V3: 400,
    RESNET_18: 200,
    RESNET_50: 150,
}
# of a kind: MB moved per image (data parallel: in all, per device), MB held by the fullest device
MOVED = {DATA: 2.0, PIPELINE: 0.05, IN_PARTS: 0.05, TENSOR: 0.1}
HELD = {DATA: 6.0, PIPELINE: 8.0, IN_PARTS: 8.0, TENSOR: 7.0}
# MB of the wide net's state on the fullest of n devices: all of it, or a share
STATE = {DATA: lambda n: 80.0, **dict.fromkeys((PIPELINE, IN_PARTS, TENSOR), lambda n: 80.0 / n)}
# milliseconds by demo and arm, of each of eight starts
MS = {
    LENET_STEP_MS: {DATA: 50.0, PIPELINE: 80.0, TENSOR: 60.0, again(DATA): 50.5},
    WIDE_STEP_MS: {DATA: 40.0, PIPELINE: 30.0, TENSOR: 20.0},
    EVALUATION_MS: {ON_ONE: 30.0, ON_BOTH: 16.0},
    TORCH_STEP_MS: {
        **{DATA: 40.0, PIPELINE: 30.0, TENSOR: 20.0, again(DATA): 40.5},
        **{FULLY_SHARD: 80.0, PIPELINING: 33.0, PARALLELIZE: 18.0},
    },
}
# of the wide net, by torch and by hand: MB moved on two devices
WIDE_MOVED = {FULLY_SHARD: 36.0, PARALLELIZE: 3.0, PIPELINING: 2.0}
WIDE_MOVED |= {DATA: 24.0, TENSOR: 6.0, PIPELINE: 2.0}
# by demo and series, over the numbers of devices
BY_DEVICES = {
    (SHARE_OF_FLOP, LARGEST_SHARD): [1.0, 1.0],
    (SHARE_OF_FLOP, SMALLEST_SHARD): [1.0, 1.0],
    (MOST_SENT, NOTES_ALLREDUCE): [1.0, 2.0],
    (MOST_SENT, SHARDED_ALLREDUCE): [1.0, 1.33],
    (OTHERS_MOVE, NOTES_ALLREDUCE): [1.0, 1.0],
    (OTHERS_MOVE, SHARDED_ALLREDUCE): [1.0, 1.33],
    (BUSIEST_ADDS, NOTES_ALLREDUCE): [100.0, 100.0],
    (BUSIEST_ADDS, SHARDED_ALLREDUCE): [50.0, 33.3],
}


def parallelism_curves(
    ratios: dict[str, float] = RATIOS,
    moved: dict[str, float] = MOVED,
    held: dict[str, float] = HELD,
    ms: Mapping[str, Mapping[str, float]] = MS,
    by_devices: Mapping[tuple[str, str], list[float]] = BY_DEVICES,
) -> list[Curve]:
    """What the stage `parallelism` measures."""
    sizes, made = PARALLELISM.batch_sizes, []

    def step(name: str, mb_moved: list[float], mb_held: float) -> None:
        made.append(line(MOVED_MB, name, sizes, mb_moved))
        made.extend(
            line(part, name, sizes, [mb_held / 2, mb_held])
            for part in (HELD_MB, PARAMS_MB, ACTIVATIONS_MB)
        )
        made.append(line(LEAST_PARAMS_MB, name, sizes, [0.5, 0.5]))
        made.append(line(DIFFERENCE_EPS, name, sizes[:1], [3.0]))
        made.append(line(IDLE_PERCENT, name, sizes, [40.0, 40.0]))

    step(ONE, [0.0, 0.0], 12.0)
    for count in PARALLELISM.num_devices:
        step(on_devices(DATA, count), [moved[DATA] * count / 2] * 2, held[DATA])
        for kind in (PIPELINE, IN_PARTS, TENSOR):
            step(on_devices(kind, count), [moved[kind] * n for n in sizes], held[kind])
    for count in PARALLELISM.num_devices:
        for kind in (PIPELINE, IN_PARTS):
            made.append(line(IDLE_BY_FLOP_PERCENT, on_devices(kind, count), sizes[:1], [70.0]))
    for name, ratio in ratios.items():
        made.append(line(FLOP_PER_BYTE, name, [1, *sizes], [n * ratio for n in (1, *sizes)]))
        made.append(line(COUNTED, name, [ratio], [ratio**2]))
    counts = PARALLELISM.num_devices
    for name, state in STATE.items():
        made.append(line(WIDE_STATE_MB, name, [1, *counts], [state(n) for n in (1, *counts)]))
    for name in BY_HAND:
        made.append(line(WIDE_STATE_MB, name, counts, [80.0 / n for n in counts]))
    for count in counts:
        for name, mb in WIDE_MOVED.items():
            sent = [mb * (count - 1)] * 2
            made.append(line(WIDE_MOVED_MB, on_devices(name, count), sizes, sent))
            if name in BY_HAND:
                made.append(line(WIDE_MODEL_MB, on_devices(name, count), sizes, sent))
                made.append(line(WIDE_CALLS, on_devices(name, count), sizes, [12.0, 12.0]))
    for (demo, name), values in by_devices.items():
        made.append(line(demo, name, counts, values))
    for demo, arms in ms.items():
        for name, median in arms.items():
            made.append(
                line(demo, name, range(8), [median * (1 + 0.0005 * i) for i in range(-4, 4)])
            )
    return made


def parallelism_metrics(curves: list[Curve], kind: DeviceKind) -> Metrics:
    """The metrics of what was measured."""
    about: Metrics = {
        "device_kind": kind,
        "num_devices": 2,
        "threads_per_device": 1,
        "starts": 8,
        "busy_percent": 0.0,
        "noisy_percent": 0.0,
        "controls": 1,
        "false_speedups": 0,
        "control_starts": 8,
        "control_over": 0,
        "control_under": 0,
    }
    return {**about, **parallelism.summarise(curves, PARALLELISM)}


def write_parallelism(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `parallelism` under `reports`."""
    made = curves or parallelism_curves()
    write_rows(reports / "parallelism", rows_of(made))
    write_metrics(reports / "parallelism", parallelism_metrics(made, kind))
