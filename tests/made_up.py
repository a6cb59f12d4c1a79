"""Made-up results of the benchmark stages, as a CPU or a GPU would leave them: for what needs no measurement.

Each stage's are in tests/stages/<name>/made_up.py.
"""

import importlib
from pathlib import Path

import torch

from lab.core.files import write_metrics, write_rows
from lab.machine.devices import DeviceKind, Devices
from lab.parallel.cost_model import Link
from lab.results.measurements import Measurement, rows_of
from lab.timing import bench
from lab.timing.bench import A_AGAINST_A, Watch

BENCHES = (
    "bench_compile",
    "bench_async",
    "bench_parallel",
    "bench_overlap",
    "bench_hardware",
    "bench_input",
    "bench_training",
    "bench_collectives",
    "scaling",
)


LINK = Link(
    100e-6, 1e-9 / 2, 1e-9 / 20
)  # of the made-up processes: 100 us, 2 GB/s, adding at 20 GB/s


def samples(median: float) -> tuple[float, ...]:
    """Twelve samples around a median, nearly the same."""
    return tuple(median * (1 + 0.0005 * i) for i in range(-6, 6))


def one(
    demo: str, arm: str, median: float, kind: DeviceKind, x: float = 0, unit: str = "ms"
) -> Measurement:
    return Measurement(demo, arm, x, samples(median), unit, kind, 0 if kind == "cuda" else 1)


def measurements(stage: str, kind: DeviceKind) -> list[Measurement]:
    """Return what a stage measures, with numbers that are easy to recognise; no GPU's arms on a CPU."""
    made = importlib.import_module(f"tests.stages.{stage}.made_up").measurements(kind)
    return [*made, Measurement(A_AGAINST_A, "ratio", 0, samples(1.0), "x", kind)]


def metrics(stage: str, made: list[Measurement], kind: DeviceKind) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured."""
    devices = Devices(kind, [torch.device("cpu")] * 2, 1)
    derived = importlib.import_module(f"tests.stages.{stage}.made_up").summary(made)
    return bench.conditions(made, devices, Watch()) | derived


def write(stage: str, reports: Path, kind: DeviceKind = "cpu-virtual") -> None:
    """Write a stage's rows and metrics under `reports`."""
    made = measurements(stage, kind)
    write_rows(reports / stage, rows_of(made))
    write_metrics(reports / stage, metrics(stage, made, kind))
