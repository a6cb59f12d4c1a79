"""Variants timed side by side, with a noise control among them, and sizes that tell of a device.

What is timed is a variant. A round is one sample of each variant; a turn is one variant's go
within a round. What a process measures is one start; lab/timing/runner.py has a program start
several times, since one and the same program can be a quarter faster or slower from one start to
the next.

The rules, each of which the notes break: a monotonic clock; work finished on every device before
each reading; warm-up outside the clock; samples long enough for the clock; an order of turns in
which every variant stands in every place, and behind every other, equally often; medians with their
spread; no speed-up claimed unless its interval excludes 1.

A GPU takes microseconds to be given an operation, however small. Work that hardly takes longer is
launch-bound: its times are Python's, and leave two GPUs, or a copy beside a product, nothing to do
at once. So on a GPU sizes grow, before the starts, until the work lasts many times as long as its
launch; each start measures again that it does, or none of the stage's times decides anything.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import torch
import torch.nn.functional as F

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.disturbances import NOT_MEASURABLE
from lab.results.measurements import Measurement, again
from lab.results.reasons import NEEDS_LARGER_SIZES
from lab.results.stats import summarise
from lab.timing.clock import read_clock

T = TypeVar("T")
K = TypeVar("K")
Variant = Callable[[], object]
Stopwatch = Callable[[Variant, int], float]  # the seconds of so many calls
CHANNELS, SIDE = 64, 28  # in and out of ResNet-18's first blocks, for the notes' images
VariantOfSize = Callable[[int], Variant]  # of size 1 it does little but launch

OVER_LAUNCH = "work over its launch"  # an experiment; x: the size
LAUNCHES_WANTED = 30  # times as long as its launch takes the work of a size that is looked for,
MIN_LAUNCHES = 10  # and at least work whose times decide, should the GPU be faster by then
MEMORY_SHARE = 0.5  # of a GPU's memory, at most, for a size that is looked for


def time_variants(
    variants: Mapping[str, Variant],
    devices: Sequence[torch.device],
    params: BenchParams,
    start: int = 0,
    control: str = "",
    lasting: bool = False,
) -> dict[str, tuple[float, ...]]:
    """Seconds per call of each variant on `devices`, by its name, see `samples_in_turns`.

    The variant named `control` takes part twice, the second time as `again(control)`: what that
    shows as a speed-up is false.
    """
    if control:
        variants = {**variants, again(control): variants[control]}
    return samples_in_turns(variants, partial(_seconds_on, devices), params, start, lasting)


def samples_in_turns(
    variants: Mapping[K, Variant],
    stopwatch: Stopwatch,
    params: BenchParams,
    start: int = 0,
    lasting: bool = False,
) -> dict[K, tuple[float, ...]]:
    """Seconds per call of each variant by a stopwatch; sample i of each was taken in round i.

    A sample calls its variant as often as takes `min_sample_ms`. Finding out how often warms it up.
    Later starts go on with the order of turns where earlier ones left off. `lasting` says that one
    call lasts long enough, and is warm behind another, as a processor's of a whole training step.
    """
    if lasting:
        for warm_up in variants.values():
            warm_up()
        calls = dict.fromkeys(variants, 1)
    else:
        min_seconds = params.min_sample_ms / 1e3
        calls = {key: _calls_lasting(v, stopwatch, min_seconds) for key, v in variants.items()}
    seconds: dict[K, list[float]] = {key: [] for key in variants}
    with _no_garbage_collection():
        for key in balanced_turns(list(variants), params.rounds, start * params.rounds):
            seconds[key].append(stopwatch(variants[key], calls[key]) / calls[key])
    return {key: tuple(samples) for key, samples in seconds.items()}


def balanced_turns(names: Sequence[T], rounds: int, first_round: int = 0) -> Iterator[T]:
    """Yield each name once a round, from round `first_round` on, in the orders of Williams."""
    orders = balanced_orders(len(names))
    for i in range(first_round, first_round + rounds):
        yield from (names[j] for j in orders[i % len(orders)])


def balanced_orders(count: int) -> list[list[int]]:
    """Orders of `count` variants, balanced over places and neighbours (Williams 1949).

    Taken together, each variant stands in each place, and right behind each other variant, equally
    often: `count` orders if that is even, twice as many if it is odd.
    """
    zigzag = [(i + 1) // 2 if i % 2 else (count - i // 2) % count for i in range(count)]
    square = [[(i + shift) % count for i in zigzag] for shift in range(count)]
    return square if count % 2 == 0 else square + [order[::-1] for order in square]


def _calls_lasting(variant: Variant, stopwatch: Stopwatch, min_seconds: float) -> int:
    """How many calls take `min_seconds`, found with at least three calls that no sample holds.

    A call may compile, or record a graph, and take a thousand times as long as later ones. So a
    reading counts only if one before it was nearly the same.
    """
    variant()
    calls = 1
    before: list[float] = []  # seconds per call
    while True:
        taken = stopwatch(variant, calls)
        each = taken / calls
        if taken < min_seconds:
            enough = 0.8 * min_seconds / each if taken > 0 else 0  # a coarse clock stood still
            calls = max(2 * calls, int(enough))
        elif any(each / 2 <= other <= 2 * each for other in before):
            return calls
        before.append(each)


def _seconds_on(devices: Sequence[torch.device], variant: Variant, calls: int) -> float:
    start = read_clock(devices)
    for _ in range(calls):
        variant()
    return read_clock(devices) - start


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def in_unit(
    experiment: str, x: float, times: Mapping[str, tuple[float, ...]], unit: str, devices: Devices
) -> list[Measurement]:
    """Measurements in s, ms, us or ns, of the seconds per call that `time_variants` gives."""
    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    return [
        Measurement(
            experiment,
            variant,
            x,
            tuple(per_second * t for t in seconds),
            unit,
            devices.kind,
            devices.threads,
        )
        for variant, seconds in times.items()
    ]


def products(device: torch.device) -> VariantOfSize:
    """The product of a random matrix of so many rows with itself."""

    def product(rows: int) -> Variant:
        x = torch.rand(rows, rows, device=device)
        return partial(torch.mm, x, x)

    return product


def convolution(
    device: torch.device, images: int, dtype: torch.dtype = torch.float32
) -> tuple[float, Variant]:
    """The GFLOP and the call of one of ResNet-18's first layers, channels last."""
    X = torch.rand(images, CHANNELS, SIDE, SIDE, device=device).to(dtype)
    W = torch.rand(CHANNELS, CHANNELS, 3, 3, device=device).to(dtype)
    X, W = (t.contiguous(memory_format=torch.channels_last) for t in (X, W))
    return 2e-9 * images * (CHANNELS * SIDE * 3) ** 2, partial(F.conv2d, X, W, padding=1)


def over_launch(
    variant_of: VariantOfSize, size: int, devices: Devices, params: BenchParams
) -> tuple[float, ...]:
    """How many times as long as its launch a variant of a size takes, round by round."""
    variants = {"work": variant_of(size), "launch": variant_of(1)}
    times = time_variants(variants, devices.devices, params)
    return tuple(t / launch for t, launch in zip(times["work"], times["launch"], strict=True))


def size_past_launch_bound(
    variant_of: VariantOfSize, size: int, devices: Devices, params: BenchParams
) -> int:
    """`size`; on a GPU doubled until its work takes LAUNCHES_WANTED times as long as its launch.

    Where memory ends before, `launch_bound` has the last word.
    """
    if not _on_gpu(devices):
        return size
    while summarise(over_launch(variant_of, size, devices, params)).median < LAUNCHES_WANTED:
        if not _room_for_twice(devices.devices[0]):
            return size
        size *= 2
    return size


def _room_for_twice(gpu: torch.device) -> bool:
    """Whether matrices of twice the rows leave MEMORY_SHARE of a GPU's memory to what runs beside.

    `size` may be one of images, which take less.
    """
    memory = torch.cuda.get_device_properties(gpu).total_memory
    return 4 * torch.cuda.max_memory_allocated(gpu) <= MEMORY_SHARE * memory


def sizes_past_launch_bound(
    variant_of: VariantOfSize, sizes: Sequence[int], devices: Devices, params: BenchParams
) -> list[int]:
    """The sizes; on a GPU with a lasting one as the largest."""
    largest = max(sizes)
    lasting = size_past_launch_bound(variant_of, largest, devices, params)
    return [lasting if size == largest else size for size in sizes]


def measure_over_launch(
    variant: str, variant_of: VariantOfSize, size: int, devices: Devices, params: BenchParams
) -> list[Measurement]:
    """How many times as long as its launch a variant takes on a GPU; a processor's has none."""
    if not _on_gpu(devices):
        return []
    values = over_launch(variant_of, size, devices, params)
    return [Measurement(OVER_LAUNCH, variant, size, values, "times as long", devices.kind)]


def _on_gpu(devices: Devices) -> bool:
    return devices.devices[0].type == "cuda"


def launch_bound(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """A metric that keeps times from deciding anything, where any of the work was launch-bound."""
    found = [m for m in measurements if m.experiment == OVER_LAUNCH]
    bound = any(m.summary.median < MIN_LAUNCHES for m in found)
    return {NOT_MEASURABLE: NEEDS_LARGER_SIZES} if bound else {}
