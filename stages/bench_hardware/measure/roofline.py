"""The roofline: what arithmetic and memory allow, and the rates of networks under it.

We measure the roof with large matrix multiplications, convolutions and copies. We count a network's
FLOP and bytes, and measure the rate of its forward pass, on a GPU if there is one. A CPU's rows
have device_kind `cpu` in any case.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from lab.machine.devices import (
    DeviceKind,
    Devices,
    computes_in_bf16,
    processor,
    resolve,
    usable_cores,
)
from lab.machine.torchvision_import import torchvision
from lab.nets.flops import Cost, forward_cost
from lab.nets.models import MODELS
from lab.nets.resnet import resnet18
from lab.results.measurements import Measurement
from lab.timing.bench import Variant, convolution, in_unit, time_variants
from stages.bench_hardware.measure.params import Params

CPU_DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}
GPU_DTYPES = {**CPU_DTYPES, "float16": torch.float16}
LAST_CACHES = 8  # a copy of this many times a GPU's last cache is from memory
SMALLER = 4  # times fewer rows if bfloat16 is emulated: seconds per product, as slow at any size
VECTOR_LENGTH = 2**20  # numbers: work for many threads, and within most CPUs' last cache
CPU_IMAGES = 16  # of the convolution
GPU_BATCH_SIZE = 256  # at least, as in the notes: with fewer images, launches dominate


# --- the roof ---


def measure_roof(params: Params, target: Devices, cores: int, process: int) -> list[Measurement]:
    """Measure rates on 1, 2, 4, ... threads, on all cores and on `target`'s GPU, alternating."""
    counts = sorted({1, cores} | {2**e for e in range(10) if 2**e < cores})
    products = [work for threads in counts for work in _products(params, threads)]
    products += [_convolution(torch.device("cpu"), threads) for threads in counts]
    copies = [_copy(params, torch.device("cpu"), threads) for threads in counts]
    if target.devices[0].type == "cuda":
        products += _gpu_products(params, target.devices[0])
        products.append(_convolution(target.devices[0], 0))
        copies.append(_copy(params, target.devices[0], 0))
    a, b = torch.rand(2, VECTOR_LENGTH)
    sums = [Work("one call", lambda: a + b, VECTOR_LENGTH / 1e9, threads) for threads in counts]
    return [
        *_measure_rates("peak", "GFLOP/s", products, params, target, process),
        *_measure_rates("bandwidth", "GB/s", copies, params, target, process),
        *_measure_rates("vector rate", "billion sums/s", sums, params, target, process),
    ]


@dataclass(frozen=True)
class Work:
    """A variant, the `amount` of work per call, and its threads (0 on a GPU)."""

    variant: str
    call: Variant
    amount: float
    threads: int

    def run(self) -> None:
        """Call it with its number of threads."""
        if self.threads:
            torch.set_num_threads(self.threads)
        self.call()


def _measure_rates(
    experiment: str, unit: str, works: Sequence[Work], params: Params, target: Devices, process: int
) -> list[Measurement]:
    """Measure amounts per second, alternating; x: the threads, 0 on `target`'s GPU."""
    variants = {f"{work.variant}, threads: {work.threads}": work.run for work in works}
    times = time_variants(variants, target.devices, params.bench, process)
    measured = []
    for work, seconds in zip(works, times.values(), strict=True):
        kind: DeviceKind = "cpu" if work.threads else target.kind
        rates = tuple(work.amount / t for t in seconds)
        measured.append(
            Measurement(experiment, work.variant, work.threads, rates, unit, kind, work.threads)
        )
    return measured


def _products(params: Params, threads: int) -> Iterator[Work]:
    rows = dict.fromkeys(CPU_DTYPES, params.bench_hardware.matrix_size)
    if not computes_in_bf16(torch.device("cpu")):
        rows["bfloat16"] //= SMALLER
    for name, n in rows.items():
        a = _matrix(params, n).to(CPU_DTYPES[name])
        yield Work(name, _product(a), 2 * n**3 / 1e9, threads)


def _gpu_products(params: Params, gpu: torch.device) -> Iterator[Work]:
    n = params.bench_hardware.gpu_matrix_size
    a = _matrix(params, n).to(gpu)
    for name, dtype in GPU_DTYPES.items():
        yield Work(name, _product(a.to(dtype)), 2 * n**3 / 1e9, 0)
    exact = _product(a)

    def as_tf32() -> None:
        torch.set_float32_matmul_precision("high")
        exact()
        torch.set_float32_matmul_precision("highest")

    yield Work("float32 as TF32", as_tf32, 2 * n**3 / 1e9, 0)


def _convolution(device: torch.device, threads: int) -> Work:
    """Make a convolution, which can be faster than matrix multiplications."""
    gflop, call = convolution(device, GPU_BATCH_SIZE if device.type == "cuda" else CPU_IMAGES)
    return Work("float32 convolution", call, gflop, threads)


def _matrix(params: Params, n: int) -> Tensor:
    return torch.rand(n, n, generator=torch.Generator().manual_seed(params.seed))


def _product(m: Tensor) -> Variant:
    out = torch.empty_like(m)
    return lambda: torch.mm(m, m, out=out)


def _copy(params: Params, device: torch.device, threads: int) -> Work:
    source = torch.rand(copy_mib(params, device) * 2**18, device=device)
    target = torch.empty_like(source).copy_(source)
    moved = 2 * source.nbytes / 1e9  # read once, written once
    return Work("copy", lambda: target.copy_(source), moved, threads)


def copy_mib(params: Params, device: torch.device) -> int:
    """Return the MiB of a copy on a device; on a GPU many times its last cache."""
    asked = params.bench_hardware.copy_mib
    if device.type == "cpu":
        return asked
    cache = torch.cuda.get_device_properties(device).L2_cache_size
    return max(asked, LAST_CACHES * cache // 2**20)


# --- networks under the roof, and the cost of the notes' small stem ---

Make = Callable[[torch.Generator], nn.Module]
Nets = dict[str, tuple[nn.Module, tuple[int, ...]]]  # by name, with the shape of a batch
FASHION, IMAGENET = (1, 28, 28), (3, 224, 224)
NETS: dict[str, tuple[Make, tuple[int, ...]]] = {
    "LeNet": (MODELS["lenet"], FASHION),
    "ResNet-18 (28 x 28)": (MODELS["resnet18"], FASHION),
    "AlexNet": (lambda _: torchvision.models.alexnet(), IMAGENET),
    "GoogLeNet (Inception)": (
        lambda _: torchvision.models.googlenet(init_weights=False, aux_logits=False),
        IMAGENET,
    ),
}
STEMS: dict[str, tuple[Make, tuple[int, ...]]] = {
    "the notes' small stem": (partial(resnet18, stem="small"), FASHION),
    "the original stem": (partial(resnet18, stem="original"), FASHION),
}


def network_device(params: Params) -> Devices:
    """Return the device of the networks: a GPU, or all of the CPU's cores."""
    devices = resolve(1, params.devices)
    return processor(usable_cores()) if devices.kind == "cpu-virtual" else devices


def costs_of(params: Params, target: Devices) -> dict[str, Cost]:
    """Return the cost of a batch's forward pass, for each network and each stem."""
    nets = _networks(params, target) | _stems(params, target)
    return {variant: forward_cost(net, shape) for variant, (net, shape) in nets.items()}


def count_flop(costs: Mapping[str, Cost], target: Devices) -> list[Measurement]:
    """Return rows of the passes' GFLOP; x: parameters."""
    return [
        Measurement("counted GFLOP", variant, cost.params, (cost.flop / 1e9,), "GFLOP", target.kind)
        for variant, cost in costs.items()
    ]


def measure_networks(
    params: Params, target: Devices, costs: Mapping[str, Cost], process: int
) -> list[Measurement]:
    """Measure the rate of each network's forward pass, alternating; x: FLOP per byte."""
    passes = forward_passes(_networks(params, target), target)
    times = time_variants(passes, target.devices, params.bench, process)
    return [
        Measurement(
            "network",
            variant,
            round(costs[variant].intensity, 4),
            tuple(costs[variant].flop / t / 1e9 for t in seconds),
            "GFLOP/s",
            target.kind,
            target.threads,
        )
        for variant, seconds in times.items()
    ]


def measure_stems(params: Params, target: Devices, process: int) -> list[Measurement]:
    """Time a forward pass of ResNet-18 with each stem, alternating; x: images."""
    passes = forward_passes(_stems(params, target), target)
    times = time_variants(passes, target.devices, params.bench, process)
    images = images_on(target, params.bench_hardware.stem_batch_size)
    return in_unit("stem", images, times, "ms", target)


def forward_passes(nets: Nets, target: Devices) -> dict[str, Variant]:
    """Return forward passes on random images, channels-last, without gradients."""
    device, layout = target.devices[0], torch.channels_last
    torch.set_num_threads(max(1, target.threads))
    passes: dict[str, Variant] = {}
    for variant, (net, shape) in nets.items():
        net.to(device).to(memory_format=layout)  # type: ignore[call-overload,unused-ignore]
        X = torch.rand(*shape).to(device, memory_format=layout)
        passes[variant] = partial(torch.inference_mode()(net), X)
    return passes


def images_on(target: Devices, asked: int) -> int:
    """Return the images of a pass: those asked for, on a GPU at least GPU_BATCH_SIZE."""
    return max(asked, GPU_BATCH_SIZE if target.devices[0].type == "cuda" else 1)


def _networks(params: Params, target: Devices) -> Nets:
    return _made(NETS, images_on(target, params.bench_hardware.batch_size), params.seed)


def _stems(params: Params, target: Devices) -> Nets:
    return _made(STEMS, images_on(target, params.bench_hardware.stem_batch_size), params.seed)


def _made(makers: Mapping[str, tuple[Make, tuple[int, ...]]], images: int, seed: int) -> Nets:
    return {
        variant: (make(torch.Generator().manual_seed(seed)).eval(), (images, *image))
        for variant, (make, image) in makers.items()
    }
