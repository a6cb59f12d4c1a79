"""Run the stage: `python -m stages.bench_hardware`."""

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, processor, resolve, usable_cores
from lab.machine.torchvision_import import torchvision
from lab.nets.flops import Cost, forward_cost
from lab.nets.models import MODELS
from lab.results.curves import key
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.timing import bench
from lab.timing.bench import Arm, in_unit, time_arms
from stages.bench_hardware import matmul, memory_access
from stages.bench_hardware.params import Params

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
STRIDES = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # in float32 numbers
MATMUL_SIZE = 256  # the book's
ORDER_SIZE, VECTOR_SIZE, CHASE_STEPS = 2048, 10_000, 200_000
NETS: dict[str, tuple[Callable[[torch.Generator], nn.Module], tuple[int, ...]]] = {
    "LeNet": (MODELS["lenet"], (1, 28, 28)),
    "ResNet-18 (28 x 28)": (MODELS["resnet18"], (1, 28, 28)),
    "AlexNet": (lambda _: torchvision.models.alexnet(), (3, 224, 224)),
    "GoogLeNet (Inception)": (
        lambda _: torchvision.models.googlenet(init_weights=False, aux_logits=False),
        (3, 224, 224),
    ),
}


def measure_latency(params: Params, host: Devices) -> list[Measurement]:
    """Time dependent loads from working sets of 4 KiB up."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        chase = memory_access.compile_chase(Path(folder))
        if isinstance(chase, str):
            return [skip("latency", "dependent loads", chase, host.kind)]
        sizes = [
            2**e for e in range(12, 20 + params.bench_hardware.largest_working_set_mib.bit_length())
        ]
        measured = []
        for size in sizes:
            chain = memory_access.chain_of(size, params.seed)
            times = time_arms(
                {"dependent loads": partial(chase, chain, CHASE_STEPS)}, [], params.bench
            )
            per_load = {
                name: tuple(t / CHASE_STEPS for t in seconds) for name, seconds in times.items()
            }
            measured += in_unit("latency", size, per_load, "ns", host)
    return measured


def measure_order_and_stride(params: Params, host: Devices) -> list[Measurement]:
    """Time the sum of a matrix by rows and by columns, and of equally many numbers at growing
    distances.
    """
    rng = np.random.default_rng(params.seed)
    matrix = rng.random((ORDER_SIZE, ORDER_SIZE), dtype=np.float32)
    arms = {
        "row by row": lambda: memory_access.sum_by_rows(matrix),
        "column by column": lambda: memory_access.sum_by_columns(matrix),
    }
    measured = in_unit("order", ORDER_SIZE, time_arms(arms, [], params.bench), "ms", host)
    flat = matrix.reshape(-1)
    count = len(flat) // max(STRIDES)
    for stride in STRIDES:
        view = flat[: count * stride : stride]
        times = time_arms({"sum": view.sum}, [], params.bench)
        per_number = {name: tuple(t / count for t in seconds) for name, seconds in times.items()}
        measured += in_unit("stride", 4 * stride, per_number, "ns", host)
    return measured


def measure_ways(params: Params, host: Devices) -> list[Measurement]:
    """Time a matrix product in the book's four ways, and an addition as a Python loop and as one
    call.
    """
    generator = torch.Generator().manual_seed(params.seed)
    A, B = torch.rand(2, MATMUL_SIZE, MATMUL_SIZE, generator=generator)
    times = time_arms(
        {name: partial(way, A, B) for name, way in matmul.WAYS.items()}, [], params.bench
    )
    flop = 2 * MATMUL_SIZE**3
    a, b = torch.rand(2, VECTOR_SIZE, generator=generator)
    x, y = a.tolist(), b.tolist()
    adding = {
        "Python loop": lambda: [p + q for p, q in zip(x, y, strict=True)],
        "one call": lambda: a + b,
    }
    return [
        *_rates("matmul", MATMUL_SIZE, times, flop, host),
        *in_unit("adding", VECTOR_SIZE, time_arms(adding, [], params.bench), "us", host),
    ]


def measure_peaks(params: Params, devices: Devices, counts: Sequence[int]) -> list[Measurement]:
    """Time products of each dtype and copies of memory; on a processor with each number of
    threads.
    """
    device, p = devices.devices[0], params.bench_hardware
    n = p.gpu_matrix_size if device.type == "cuda" else p.matrix_size
    generator = torch.Generator().manual_seed(params.seed)
    a = torch.rand(n, n, generator=generator).to(device)
    source = torch.rand(p.copy_mib * 2**18, device=device)
    target = torch.empty_like(source).copy_(source)
    measured = []
    for threads in counts:
        at = processor(threads) if device.type == "cpu" else devices
        matrices = {
            name: a.to(dtype)
            for name, dtype in DTYPES.items()
            if device.type == "cuda" or name != "float16"
        }
        arms = {name: _product(m) for name, m in matrices.items()}
        measured += _rates(
            "peak", threads, time_arms(arms, devices.devices, params.bench), 2 * n**3, at
        )
        if device.type == "cuda":
            torch.set_float32_matmul_precision("high")
            tf32 = time_arms({"float32 as TF32": _product(a)}, devices.devices, params.bench)
            measured += _rates("peak", threads, tf32, 2 * n**3, at)
            torch.set_float32_matmul_precision("highest")
        times = time_arms({"copy": lambda: target.copy_(source)}, devices.devices, params.bench)[
            "copy"
        ]
        moved = 2 * source.numel() * 4  # read once, written once
        values = tuple(moved / t / 1e9 for t in times)
        measured.append(
            Measurement("bandwidth", "copy", threads, values, "GB/s", at.kind, at.threads)
        )
    return measured


def _product(m: Tensor) -> Arm:
    out = torch.empty_like(m)
    return lambda: torch.mm(m, m, out=out)


def _rates(
    demo: str, x: float, times: Mapping[str, tuple[float, ...]], flop: float, devices: Devices
) -> list[Measurement]:
    return [
        Measurement(
            demo,
            arm,
            x,
            tuple(flop / t / 1e9 for t in seconds),
            "GFLOP/s",
            devices.kind,
            devices.threads,
        )
        for arm, seconds in times.items()
    ]


def measure_trips(params: Params, devices: Devices) -> list[Measurement]:
    """Time a kernel launch, and 4 bytes to the GPU and back."""
    device = devices.devices[0]
    if device.type == "cpu":
        return [
            skip("trip", arm, "needs a CUDA GPU", devices.kind)
            for arm in ("launch", "to the GPU and back")
        ]
    x, launches = torch.zeros(1, device=device), 1000

    def launch() -> None:
        for _ in range(launches):
            x.add_(1.0)

    times = time_arms({"launch": launch}, devices.devices, params.bench)
    per_launch = {"launch": tuple(t / launches for t in times["launch"])}
    number = torch.zeros(1)
    back = time_arms(
        {"to the GPU and back": lambda: number.to(device).cpu()}, devices.devices, params.bench
    )
    return [
        *in_unit("trip", 1, per_launch, "us", devices),
        *in_unit("trip", 1, back, "us", devices),
    ]


def measure_networks(params: Params, devices: Devices) -> list[Measurement]:
    """Count each network's FLOP and bytes per batch, and time its forward pass."""
    device, measured = devices.devices[0], []
    for name, (make_net, shape) in NETS.items():
        net = make_net(torch.Generator().manual_seed(params.seed)).eval()
        cost = forward_cost(net, (params.bench_hardware.batch_size, *shape))
        net.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        X = torch.rand(params.bench_hardware.batch_size, *shape).to(
            device, memory_format=torch.channels_last
        )
        times = time_arms(
            {name: partial(torch.inference_mode()(net), X)}, devices.devices, params.bench
        )
        measured += _rates("network", round(cost.intensity, 4), times, cost.flop, devices)
        measured.append(_counted(name, cost, devices))
    return measured


def _counted(name: str, cost: Cost, devices: Devices) -> Measurement:
    return Measurement(
        "counted",
        name,
        cost.params,
        (cost.flop / 1e9, cost.num_bytes / 1e9),
        "GFLOP, GB",
        devices.kind,
    )


def summarise(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """Return peaks, bandwidth, latencies, the four ways, and each network's share of what the
    roofline allows.
    """
    results = Results(measurements)
    metrics: dict[str, float | str] = {}

    def note(name: str, m: Measurement | None) -> None:
        if m:
            metrics.update(bench.median_metrics(name, m.values))

    for name in results.arms("peak"):
        for m in results.series("peak", name):
            note(f"peak_{key(name)}_{_on(m)}_gflop_per_s", m)
    for m in results.series("bandwidth", "copy"):
        note(f"copy_{_on(m)}_gb_per_s", m)
    latency = results.series("latency", "dependent loads")
    if latency:
        note("latency_smallest_ns", latency[0])
        note("latency_largest_ns", latency[-1])
    rows, columns = results.one("order", "row by row"), results.one("order", "column by column")
    if rows and columns:
        metrics |= bench.ratio_metrics("rows_over_columns_speedup", bench.speedup_of(columns, rows))
    for name in results.arms("matmul"):
        note(f"matmul_{key(name)}_gflop_per_s", results.one("matmul", name))
    loop, call = results.one("adding", "Python loop"), results.one("adding", "one call")
    if loop and call:
        metrics |= bench.ratio_metrics("vectorised_speedup", bench.speedup_of(loop, call))
    note("launch_us", results.one("trip", "launch"))
    note("there_and_back_us", results.one("trip", "to the GPU and back"))
    for name in results.arms("network"):
        note(f"{key(name)}_gflop_per_s", results.one("network", name))
    return metrics


def _on(m: Measurement) -> str:
    return f"{m.threads}_threads" if m.device_kind == "cpu" else "gpu"


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    watch, devices, cores = bench.Watch(), resolve(1, params.devices), usable_cores()
    one = processor(1)
    measured = [
        *measure_latency(params, one),
        *measure_order_and_stride(params, one),
        *measure_ways(params, one),
        *measure_peaks(params, one, sorted({1, cores} | {2**e for e in range(10) if 2**e < cores})),
        *measure_trips(params, devices),
    ]
    target = devices if devices.kind != "cpu-virtual" else processor(cores)
    # on by default for convolutions: the roof would be another one
    torch.backends.cudnn.allow_tf32 = False
    if target.devices[0].type == "cuda":
        measured += measure_peaks(params, target, [0])
    measured += measure_networks(params, target)
    x = torch.rand(MATMUL_SIZE, MATMUL_SIZE)
    processor(1)
    measured += bench.noise_control(lambda: torch.mm(x, x), one, params.bench)
    write_rows(REPORTS / "bench_hardware", rows_of(measured))
    write_metrics(
        REPORTS / "bench_hardware", bench.conditions(measured, target, watch) | summarise(measured)
    )


if __name__ == "__main__":
    sys.exit(run(main))
