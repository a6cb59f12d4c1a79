"""The roofline: what arithmetic and memory allow, and the rates of networks under it.

The roof is measured, by large products, convolutions and copies. A network's place is counted, in
FLOP and bytes, and the rate of its forward pass is measured, on a GPU if there is one. Rows of the
processor have device_kind `cpu` also then.
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
LAST_CACHES = 8  # of a GPU: a copy of so many is from memory
SMALLER = 4  # products in bfloat16 without instructions for it: seconds each, at any size as slow
VECTOR_LENGTH = 2**20  # numbers: work for many threads, and in the last cache of most processors
CPU_IMAGES = 16  # of the convolution
GPU_BATCH_SIZE = 256  # at least, the notes' for one GPU: fewer images are mostly launches


# --- the roof ---


def measure_roof(params: Params, target: Devices, cores: int, process: int) -> list[Measurement]:
    """Rates on 1, 2, 4, ... threads, on all cores and on `target`'s GPU, each in turn."""
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
    """A variant, the `amount` that a call of it does, and on what: 0 threads on a GPU."""

    variant: str
    call: Variant
    amount: float
    threads: int

    def run(self) -> None:
        """Do it with its number of threads."""
        if self.threads:
            torch.set_num_threads(self.threads)
        self.call()


def _measure_rates(
    experiment: str, unit: str, works: Sequence[Work], params: Params, target: Devices, process: int
) -> list[Measurement]:
    """The amount per second of each work, all in turn; x: its threads, 0 on `target`'s GPU."""
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
    """It can be faster than matrix products."""
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
    """MiB of a copy on a device; on a GPU many times what its last cache holds."""
    asked = params.bench_hardware.copy_mib
    if device.type == "cpu":
        return asked
    cache = torch.cuda.get_device_properties(device).L2_cache_size
    return max(asked, LAST_CACHES * cache // 2**20)


# --- networks under it, and what the notes' small stem costs one of them ---

Make = Callable[[torch.Generator], nn.Module]
Nets = dict[str, tuple[nn.Module, tuple[int, ...]]]  # with the shape of a batch for each
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
    """What the networks run on: a GPU, or all of the processor's cores."""
    devices = resolve(1, params.devices)
    return processor(usable_cores()) if devices.kind == "cpu-virtual" else devices


def costs_of(params: Params, target: Devices) -> dict[str, Cost]:
    """What a batch's forward pass takes, by each network, and with each stem."""
    nets = _networks(params, target) | _stems(params, target)
    return {variant: forward_cost(net, shape) for variant, (net, shape) in nets.items()}


def count_flop(costs: Mapping[str, Cost], target: Devices) -> list[Measurement]:
    """GFLOP of these passes; x: parameters."""
    return [
        Measurement("counted GFLOP", variant, cost.params, (cost.flop / 1e9,), "GFLOP", target.kind)
        for variant, cost in costs.items()
    ]


def measure_networks(
    params: Params, target: Devices, costs: Mapping[str, Cost], process: int
) -> list[Measurement]:
    """The rate of each network's forward pass, in turn; x: FLOP per byte."""
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
    """Milliseconds of a forward pass of ResNet-18 with each stem, in turn; x: images."""
    passes = forward_passes(_stems(params, target), target)
    times = time_variants(passes, target.devices, params.bench, process)
    images = images_on(target, params.bench_hardware.stem_batch_size)
    return in_unit("stem", images, times, "ms", target)


def forward_passes(nets: Nets, target: Devices) -> dict[str, Variant]:
    """A forward pass of each network on random images, without gradients and channels last."""
    device, layout = target.devices[0], torch.channels_last
    torch.set_num_threads(max(1, target.threads))
    passes: dict[str, Variant] = {}
    for variant, (net, shape) in nets.items():
        net.to(device).to(memory_format=layout)  # type: ignore[call-overload,unused-ignore]
        X = torch.rand(*shape).to(device, memory_format=layout)
        passes[variant] = partial(torch.inference_mode()(net), X)
    return passes


def images_on(target: Devices, asked: int) -> int:
    """The images of a pass: as many as asked, and on a GPU enough that launches are not most."""
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
