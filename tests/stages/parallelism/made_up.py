"""Made-up results of parallelism, as a CPU or a GPU would leave them."""

from pathlib import Path

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import DeviceKind
from lab.results.curves import Curve, line
from lab.results.curves import rows_of as rows_of_curves
from stages.parallelism import __main__ as parallelism
from stages.parallelism.params import ParallelismParams

PARALLELISM = ParallelismParams(num_devices=[2, 3], batch_sizes=[10, 100], num_micro_batches=4)


RATIOS = {
    "LeNet": 20,
    "ResNet-18 (28 x 28)": 60,
    "AlexNet": 10,
    "GoogLeNet (Inception v1)": 300,
    "Inception v3": 400,
    "ResNet-18": 200,
    "ResNet-50": 150,
}


def parallelism_curves(ratios: dict[str, float] | None = None) -> list[Curve]:
    """Return what the stage `parallelism` measures."""
    sizes, made = PARALLELISM.batch_sizes, []

    def step(name: str, moved: list[float], held: float) -> None:
        made.append(line("moved_mb", name, sizes, moved))
        made.extend(
            line(f"{part}_mb", name, sizes, [held, 2 * held])
            for part in ("total", "params", "activations")
        )
        made.append(line("difference_eps", name, sizes[:1], [3.0]))
        made.append(line("idle_percent", name, sizes, [40.0, 40.0]))

    step(parallelism.ONE, [0.0, 0.0], 12.0)
    for k in PARALLELISM.num_devices:
        step(f"{parallelism.DATA}, {k} devices", [k, k], 12 / k)
        for name in (parallelism.PIPELINE, f"{parallelism.PIPELINE} of 4 micro-batches"):
            step(f"{name}, {k} devices", [0.5, 5], 8.0)
            made.append(line("idle_by_flop_percent", f"{name}, {k} devices", sizes[:1], [70.0]))
        step(f"{parallelism.TENSOR}, {k} devices", [1, 10], 6.0)
    for name, ratio in (ratios or RATIOS).items():
        made.append(
            line(
                "ratio_flop_per_byte",
                name,
                [1, *sizes],
                [ratio, ratio * sizes[0], ratio * sizes[1]],
            )
        )
        made.append(line("ratio_counted", name, [ratio], [ratio**2]))
    return made


def write_parallelism(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `parallelism` under `reports`."""
    made = curves or parallelism_curves()
    write_rows(reports / "parallelism", rows_of_curves(made))
    metrics = {"device_kind": kind} | parallelism.summarise(made, PARALLELISM)
    write_metrics(reports / "parallelism", metrics)
