"""Variants timed side by side with a noise control, and sizes that measure the device.

A variant is a piece of work to time. A round is one sample of each variant, and a turn is one
variant's part of a round. A start is the measurements of one process. lab/timing/runner.py measures
several starts, since a program can be a quarter faster or slower from one process to the next.

The notes break each of these rules: a monotonic clock; work finished on every device before each
reading; warm-up outside the clock; samples long enough for the clock; an order of turns in which
every variant stands in every place, and after every other, equally often; medians with their
spread; no speed-up claimed unless its interval excludes 1.

Launching an operation on a GPU takes microseconds, however small the operation. Work that hardly
takes longer is launch-bound: its times are Python's, and two GPUs, or a copy and a product, do not
overlap. So on a GPU, sizes grow before the starts until the work takes many times as long as its
launch. Each start checks this again; if it does not hold, the stage's times decide nothing.
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
Stopwatch = Callable[[Variant, int], float]  # seconds of the given number of calls
CHANNELS, SIDE = 64, 28  # in and out of ResNet-18's first blocks, for the notes' images
VariantOfSize = Callable[[int], Variant]  # at size 1 it does little but launch

OVER_LAUNCH = "work over its launch"  # an experiment; x: the size
LAUNCHES_WANTED = 30  # launches that the work should last when a size is chosen
MIN_LAUNCHES = 10  # launches below which times decide nothing; lower, as the GPU may speed up
MEMORY_SHARE = 0.5  # of a GPU's memory, at most, when a size is chosen


def time_variants(
    variants: Mapping[str, Variant],
    devices: Sequence[torch.device],
    params: BenchParams,
    start: int = 0,
    control: str = "",
    lasting: bool = False,
) -> dict[str, tuple[float, ...]]:
    """Return seconds per call of each variant on `devices`, by name, see `samples_in_turns`.

    The variant named `control` takes part again as `again(control)`: any speed-up between the two
    is false.
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
    """Return seconds per call of each variant by a stopwatch; sample i was taken in round i.

    A sample calls its variant often enough to take `min_sample_ms`; finding this number warms it
    up. Each start continues the order of turns where the previous one ended. `lasting`: one call is
    long enough to time, and to warm up, as a whole training step on a CPU is.
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
    """Yield each name once per round, from `first_round` on, in Williams' balanced orders."""
    orders = balanced_orders(len(names))
    for i in range(first_round, first_round + rounds):
        yield from (names[j] for j in orders[i % len(orders)])


def balanced_orders(count: int) -> list[list[int]]:
    """Return orders of `count` variants, balanced over places and neighbours (Williams 1949).

    Over all orders, each variant stands in each place, and right after each other variant, equally
    often. There are `count` orders if `count` is even, twice as many if it is odd.
    """
    zigzag = [(i + 1) // 2 if i % 2 else (count - i // 2) % count for i in range(count)]
    square = [[(i + shift) % count for i in zigzag] for shift in range(count)]
    return square if count % 2 == 0 else square + [order[::-1] for order in square]


def _calls_lasting(variant: Variant, stopwatch: Stopwatch, min_seconds: float) -> int:
    """Return the number of calls that take `min_seconds`, after at least three to warm up.

    A call that compiles or records a graph can take a thousand times as long as later ones. So a
    reading counts only if an earlier one is within a factor of 2.
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
    """Return measurements in s, ms, us or ns of the seconds per call from `time_variants`."""
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
    """Return variants of the product of a random square matrix with itself; size: its rows."""

    def product(rows: int) -> Variant:
        x = torch.rand(rows, rows, device=device)
        return partial(torch.mm, x, x)

    return product


def convolution(
    device: torch.device, images: int, dtype: torch.dtype = torch.float32
) -> tuple[float, Variant]:
    """Return one of ResNet-18's first convolutions, channels last: its GFLOP and the call."""
    X = torch.rand(images, CHANNELS, SIDE, SIDE, device=device).to(dtype)
    W = torch.rand(CHANNELS, CHANNELS, 3, 3, device=device).to(dtype)
    X, W = (t.contiguous(memory_format=torch.channels_last) for t in (X, W))
    return 2e-9 * images * (CHANNELS * SIDE * 3) ** 2, partial(F.conv2d, X, W, padding=1)


def over_launch(
    variant_of: VariantOfSize, size: int, devices: Devices, params: BenchParams
) -> tuple[float, ...]:
    """Return how many times as long as its launch a variant takes, round by round."""
    variants = {"work": variant_of(size), "launch": variant_of(1)}
    times = time_variants(variants, devices.devices, params)
    return tuple(t / launch for t, launch in zip(times["work"], times["launch"], strict=True))


def size_past_launch_bound(
    variant_of: VariantOfSize, size: int, devices: Devices, params: BenchParams
) -> int:
    """Return `size`, doubled on a GPU until the work takes LAUNCHES_WANTED times its launch.

    If memory does not suffice, `launch_bound` decides about the times.
    """
    if not _on_gpu(devices):
        return size
    while summarise(over_launch(variant_of, size, devices, params)).median < LAUNCHES_WANTED:
        if not _room_for_twice(devices.devices[0]):
            return size
        size *= 2
    return size


def _room_for_twice(gpu: torch.device) -> bool:
    """Return whether matrices of twice the rows stay within MEMORY_SHARE of a GPU's memory.

    A size may also be a number of images, which take less.
    """
    memory = torch.cuda.get_device_properties(gpu).total_memory
    return 4 * torch.cuda.max_memory_allocated(gpu) <= MEMORY_SHARE * memory


def sizes_past_launch_bound(
    variant_of: VariantOfSize, sizes: Sequence[int], devices: Devices, params: BenchParams
) -> list[int]:
    """Return the sizes; on a GPU the largest is raised until it is not launch-bound."""
    largest = max(sizes)
    lasting = size_past_launch_bound(variant_of, largest, devices, params)
    return [lasting if size == largest else size for size in sizes]


def measure_over_launch(
    variant: str, variant_of: VariantOfSize, size: int, devices: Devices, params: BenchParams
) -> list[Measurement]:
    """Measure how many times as long as its launch a variant takes; empty if not on a GPU."""
    if not _on_gpu(devices):
        return []
    values = over_launch(variant_of, size, devices, params)
    return [Measurement(OVER_LAUNCH, variant, size, values, "times as long", devices.kind)]


def _on_gpu(devices: Devices) -> bool:
    return devices.devices[0].type == "cuda"


def launch_bound(measurements: Sequence[Measurement]) -> dict[str, float | str]:
    """Return a metric that keeps times from deciding anything if any work was launch-bound."""
    found = [m for m in measurements if m.experiment == OVER_LAUNCH]
    bound = any(m.summary.median < MIN_LAUNCHES for m in found)
    return {NOT_MEASURABLE: NEEDS_LARGER_SIZES} if bound else {}
