"""Benchmarks that measure what they say: arms timed side by side, with a noise control in the same
run.

The rules (each is a mistake that the notes make): a monotonic clock; work finished on every device
before each reading; warm-up outside the clock; samples long enough for the clock; arms interleaved
A B B A, so that a machine that slows down slows all of them; medians with spreads, and no speed-up
claimed unless its interval excludes 1.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import psutil
import torch

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, Results
from lab.results.stats import Ratio, median_ratio, paired_ratios, speedup, summarise
from lab.timing.clock import read_clock

A_AGAINST_A = "A against A"

T = TypeVar("T")
Arm = Callable[[], object]


def time_arms(
    arms: Mapping[str, Arm], devices: Sequence[torch.device], params: BenchParams
) -> dict[str, tuple[float, ...]]:
    """Return seconds per call of each arm, one sample per round; sample i of all arms was taken in
    round i.

    A sample repeats an arm until it takes `min_sample_ms`; finding out how often warms the arm up.
    """
    calls = {
        name: _calls_per_sample(arm, devices, params.min_sample_ms / 1e3)
        for name, arm in arms.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    with _no_garbage_collection():
        for name in turns(arms, params.rounds):
            seconds[name].append(_seconds_per_call(arms[name], calls[name], devices))
    return {name: tuple(samples) for name, samples in seconds.items()}


def turns(names: Iterable[T], rounds: int) -> Iterator[T]:
    """Yield each name once a round, in the order A B B A: what comes first in one round comes last
    in the next.
    """
    order = list(names)
    for i in range(rounds):
        yield from order if i % 2 == 0 else reversed(order)


def _calls_per_sample(arm: Arm, devices: Sequence[torch.device], min_seconds: float) -> int:
    """Return how many calls take `min_seconds`, after at least two calls that nobody counts."""
    arm()
    calls = 1
    while (taken := calls * _seconds_per_call(arm, calls, devices)) < min_seconds:
        calls = max(2 * calls, int(0.8 * calls * min_seconds / max(taken, 1e-9)))
    return calls


def _seconds_per_call(arm: Arm, calls: int, devices: Sequence[torch.device]) -> float:
    start = read_clock(devices)
    for _ in range(calls):
        arm()
    return (read_clock(devices) - start) / calls


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


def noise_control(arm: Arm, devices: Devices, params: BenchParams) -> list[Measurement]:
    """Compare an arm with itself `aa_runs` times, by the same rules: whatever speed-up that shows
    is false.
    """
    controls = []
    for run in range(params.aa_runs):
        times = time_arms({"A": arm, "A again": arm}, devices.devices, params)
        ratios = tuple(paired_ratios(times["A"], times["A again"]))
        controls.append(
            Measurement(A_AGAINST_A, "ratio", run, ratios, "x", devices.kind, devices.threads)
        )
    return controls


class Watch:
    """Watches, from its making on, how busy other processes keep the machine."""

    def __init__(self) -> None:
        """Start watching."""
        self._others, self._all = _processor_seconds()

    def busy_percent(self) -> float:
        """Return the share of all cores' time that others took; children that have ended are not
        others.
        """
        others, all_ = _processor_seconds()
        return 100 * max(0.0, others - self._others) / max(1e-9, all_ - self._all)


def _processor_seconds() -> tuple[float, float]:
    """Return the seconds that other processes computed and that all cores had, since the machine
    started.
    """
    machine, mine = psutil.cpu_times(), psutil.Process().cpu_times()
    own = (
        mine.user
        + mine.system
        + getattr(mine, "children_user", 0)
        + getattr(mine, "children_system", 0)
    )
    idle = machine.idle + getattr(machine, "iowait", 0)
    total = (
        machine.user
        + machine.system
        + getattr(machine, "nice", 0)
        + getattr(machine, "steal", 0)
        + idle
    )
    return total - idle - own, total


def conditions(
    measurements: Sequence[Measurement], devices: Devices, watch: Watch
) -> dict[str, float | str]:
    """Return what every benchmark's metrics begin with: what it ran on, how noisy that was, false
    speed-ups.
    """
    controls = [median_ratio(m.values) for m in measurements if m.demo == A_AGAINST_A]
    timed = [m for m in measurements if m.values and m.demo != A_AGAINST_A and len(m.values) > 1]
    return {
        "device_kind": devices.kind,
        "num_devices": len(devices.devices),
        "threads_per_device": devices.threads,
        "busy_percent": round(watch.busy_percent(), 1),
        "noisy_percent": round(100 * sum(m.summary.noisy for m in timed) / max(1, len(timed)), 1),
        "skipped": len(Results(measurements).skipped()),
        "aa_runs": len(controls),
        "aa_false_speedups": sum(ratio.verdict != "inconclusive" for ratio in controls),
    }


def in_unit(
    demo: str, x: float, times: Mapping[str, tuple[float, ...]], unit: str, devices: Devices
) -> list[Measurement]:
    """Return seconds per call, as `time_arms` gives them, as measurements in s, ms, us or ns."""
    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    return [
        Measurement(
            demo,
            arm,
            x,
            tuple(per_second * t for t in seconds),
            unit,
            devices.kind,
            devices.threads,
        )
        for arm, seconds in times.items()
    ]


def median_metrics(name: str, samples: Sequence[float]) -> dict[str, float | str]:
    """Return samples as two metrics: their median and their spread."""
    summary = summarise(samples)
    return {name: round(summary.median, 4), f"{name}_iqr": round(summary.iqr, 4)}


def ratio_metrics(name: str, ratio: Ratio) -> dict[str, float | str]:
    """Return a ratio as three metrics: the median and the two ends of its interval."""
    return {
        name: round(ratio.median, 4),
        f"{name}_low": round(ratio.low, 4),
        f"{name}_high": round(ratio.high, 4),
    }


def speedup_of(old: Measurement, new: Measurement) -> Ratio:
    """Return how many times faster `new` is, from the pairs of the same rounds."""
    return speedup(old.values, new.values)
