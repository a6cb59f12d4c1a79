"""Run the stage: `python -m stages.bench_training`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.shared_params import Compile
from lab.data.datasets import FASHION_COUNTS, dataset_name
from lab.data.loaders import BOOK_WORKERS
from lab.machine.devices import Devices, missing_compiler, processor, resolve, usable_cores
from lab.results.curves import key
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.results.stats import median_ratio, paired_ratios
from lab.timing import bench
from lab.timing.bench import in_unit
from lab.training.race import Way, race
from stages.bench_training.params import Params, TrainingParams

# forward and backward of an image, a multiply-add as two
TRAINING_MFLOP = {"lenet": 13.26, "resnet18": 2734.0}
GEMM_SIZE = {"cpu": 1024, "cuda": 8192}
GEMM_CALLS = 10
ENGINE, COMPILED, TF32, BF16 = "engine", "engine, compiled", "engine, tf32", "engine, bf16"
WORKERS, NO_WORKERS = "the notes' way, 4 workers", "the notes' way, no workers"
ONE, TWO = "ddp, one worker", "ddp, two workers"
PEAK = "matrix product, fp32"


def contestants(
    p: TrainingParams, device: str, cores: int, share: int, compiled: bool
) -> dict[str, dict[str, Way]]:
    """Return each race's ways by name; a way of one process has all `cores`, one of two devices
    `share` each.
    """
    lenet = Way("engine", "lenet", p.lenet_batch_size, p.lenet_steps, device, cores)
    resnet = Way("engine", "resnet18", p.resnet_batch_size, p.resnet_steps, device, cores)
    gemm = Way("gemm", "", GEMM_SIZE[device], GEMM_CALLS, device, cores)
    two = device == "cpu" or torch.cuda.device_count() > 1
    graphs: Compile = "reduce-overhead" if device == "cuda" else "default"

    def engine(way: Way) -> dict[str, Way]:
        return {
            ENGINE: way,
            **({COMPILED: replace(way, compile_mode=graphs)} if compiled else {}),
            **({TF32: replace(way, precision="tf32")} if device == "cuda" else {}),
            BF16: replace(way, precision="bf16"),
        }

    return {
        "lenet": {
            WORKERS: replace(lenet, kind="book", num_workers=BOOK_WORKERS),
            NO_WORKERS: replace(lenet, kind="book"),
            **engine(lenet),
            ONE: replace(lenet, kind="ddp", threads=share),
            **({TWO: replace(lenet, kind="ddp", threads=share, num_devices=2)} if two else {}),
            PEAK: gemm,
        },
        "resnet18": {NO_WORKERS: replace(resnet, kind="book"), **engine(resnet), PEAK: gemm},
    }


def measure(params: Params, devices: Devices, cores: int, share: int) -> list[Measurement]:
    """Run both races and return milliseconds per step; two workers have `share` threads each."""
    p, measured, missing = params.bench_training, [], missing_compiler()
    if p.compile and missing:
        measured.append(skip("lenet", COMPILED, f"needs {missing}", devices.kind))
    for net, ways in contestants(
        p, devices.devices[0].type, cores, share, p.compile and not missing
    ).items():
        times = race(ways, p.rounds, p.heats)
        batch_size = p.lenet_batch_size if net == "lenet" else p.resnet_batch_size
        measured += in_unit(net, batch_size, times, "ms", devices)
    return measured


def summarise(measurements: Sequence[Measurement], gemm_size: int) -> dict[str, float | str]:
    """Return speed-ups over the notes' faster way, shares of the measured peak, and seconds per
    epoch.
    """
    results = Results(measurements)
    metrics: dict[str, float | str] = {}

    def note(name: str, ratios: Sequence[float]) -> None:
        metrics.update(
            bench.ratio_metrics(name, median_ratio(ratios)) | bench.median_metrics(name, ratios)
        )

    for net in ("lenet", "resnet18"):
        ways = {name: m for name in results.arms(net) if (m := results.one(net, name))}
        steps = -(-FASHION_COUNTS["train"] // int(ways[ENGINE].x))
        for name, m in ways.items():
            if name != PEAK:
                epochs = [steps * t / 1e3 for t in m.values]
                metrics |= bench.median_metrics(f"{net}_{key(name)}_epoch_s", epochs)
        book = faster(ways)
        fp32 = ways[ENGINE]
        metrics[f"{net}_notes_faster_way"] = book.arm
        note(f"{net}_fp32_speedup", paired_ratios(book.values, fp32.values))
        note(
            f"{net}_bf16_speedup",
            paired_ratios((book if net == "lenet" else fp32).values, ways[BF16].values),
        )
        # of a step, by their FLOP
        products = TRAINING_MFLOP[net] * 1e6 * fp32.x / (2 * gemm_size**3)
        at_peak = [products * t for t in ways[PEAK].values]
        note(f"{net}_fp32_of_peak", paired_ratios(at_peak, fp32.values))
        for name, other in (("compiled", COMPILED), ("tf32", TF32)):
            if other in ways:
                note(f"{net}_{name}_speedup", paired_ratios(fp32.values, ways[other].values))
        if TWO in ways:
            note(f"{net}_2workers_speedup", paired_ratios(ways[ONE].values, ways[TWO].values))
    return metrics


def faster(ways: Mapping[str, Measurement]) -> Measurement:
    """Return the notes' way with the loader setting that is faster here."""
    return min(
        (ways[n] for n in (WORKERS, NO_WORKERS) if n in ways), key=lambda m: m.summary.median
    )


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    watch, devices, cores = bench.Watch(), resolve(1, params.devices), usable_cores()
    share = devices.threads
    if devices.kind == "cpu-virtual":  # ways of one process have the processor to themselves
        devices = processor(cores)
    measured = measure(params, devices, cores, share)
    x = torch.rand(128, 128, device=devices.devices[0])
    measured += bench.noise_control(lambda: torch.mm(x, x), devices, params.bench)
    write_rows(REPORTS / "bench_training", rows_of(measured))
    head = {"dataset": dataset_name(), **bench.conditions(measured, devices, watch), "cores": cores}
    gemm_size = GEMM_SIZE[devices.devices[0].type]
    write_metrics(REPORTS / "bench_training", head | summarise(measured, gemm_size))


if __name__ == "__main__":
    sys.exit(run(main))
