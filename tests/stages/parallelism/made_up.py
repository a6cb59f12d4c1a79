"""Made-up results of parallelism, as a CPU or a GPU would leave them."""

from pathlib import Path

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import DeviceKind
from lab.results.curves import Curve, line, rows_of
from stages.parallelism import __main__ as parallelism
from stages.parallelism.names import (
    ACTIVATIONS_MB,
    ALEXNET,
    COUNTED,
    DATA,
    DIFFERENCE_EPS,
    FLOP_PER_BYTE,
    GOOGLENET,
    HELD_MB,
    IDLE_BY_FLOP_PERCENT,
    IDLE_PERCENT,
    INCEPTION_V3,
    LENET,
    MOVED_MB,
    ONE,
    PARAMS_MB,
    PIPELINE,
    RESNET_18,
    RESNET_50,
    SMALL_RESNET_18,
    TENSOR,
    in_micro_batches,
    on_devices,
)
from stages.parallelism.params import ParallelismParams

PARALLELISM = ParallelismParams(num_devices=[2, 3], batch_sizes=[16, 256], num_micro_batches=4)
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


def parallelism_curves(
    ratios: dict[str, float] = RATIOS,
    moved: dict[str, float] = MOVED,
    held: dict[str, float] = HELD,
) -> list[Curve]:
    """What the stage `parallelism` measures."""
    sizes, made = PARALLELISM.batch_sizes, []

    def step(name: str, mb_moved: list[float], mb_held: float) -> None:
        made.append(line(MOVED_MB, name, sizes, mb_moved))
        made.extend(
            line(part, name, sizes, [mb_held / 2, mb_held])
            for part in (HELD_MB, PARAMS_MB, ACTIVATIONS_MB)
        )
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
    return made


def write_parallelism(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `parallelism` under `reports`."""
    made = curves or parallelism_curves()
    write_rows(reports / "parallelism", rows_of(made))
    metrics = {"device_kind": kind} | parallelism.summarise(made, PARALLELISM)
    write_metrics(reports / "parallelism", metrics)
