"""Arms timed side by side, with a noise control in the same run.

What is timed is an arm. A round is one sample of each arm; a turn is one arm's go within a round.

The rules, each of which the notes break: a monotonic clock; work finished on every device before
each reading; warm-up outside the clock; samples long enough for the clock; turns in the order
A B B A, so that a machine that slows down slows every arm; medians with their spread; no speed-up
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
    """Seconds per call of each arm, by its name; sample i of every arm was taken in round i.

    A sample calls its arm as often as takes `min_sample_ms`. Finding out how often warms it up.
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
    """Yield each name once a round: A B, then B A, and so on."""
    order = list(names)
    for i in range(rounds):
        yield from order if i % 2 == 0 else reversed(order)


def _calls_per_sample(arm: Arm, devices: Sequence[torch.device], min_seconds: float) -> int:
    """How many calls take `min_seconds`, found with at least two calls that no sample holds."""
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
    """Time an arm against itself `aa_runs` times, by the same rules."""
    pairs = []
    for _ in range(params.aa_runs):
        times = time_arms({"A": arm, "A again": arm}, devices.devices, params)
        pairs.append((times["A"], times["A again"]))
    return control_measurements(pairs, devices)


def control_measurements(
    pairs: Iterable[tuple[Sequence[float], Sequence[float]]], devices: Devices
) -> list[Measurement]:
    """The noise control's rows, from pairs of samples of one and the same arm.

    Any speed-up of an arm over itself is false; `conditions` counts them.
    """
    return [
        Measurement(
            A_AGAINST_A,
            "ratio",
            run,
            tuple(paired_ratios(one, again)),
            "x",
            devices.kind,
            devices.threads,
        )
        for run, (one, again) in enumerate(pairs)
    ]


class Watch:
    """How busy other processes keep the machine from now on."""

    def __init__(self) -> None:
        """Start watching."""
        self._others, self._all = _processor_seconds()

    def busy_percent(self) -> float:
        """Share of all cores' time that went to processes other than this one and its children."""
        others, all_ = _processor_seconds()
        return 100 * max(0.0, others - self._others) / max(1e-9, all_ - self._all)


def _processor_seconds() -> tuple[float, float]:
    """Seconds that other processes computed, and that all cores had, since the machine started.

    The time of a child counts as this process's own once the child has ended.
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
    """What every benchmark's metrics begin with: its devices, its noise, its false speed-ups."""
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
    """Measurements in s, ms, us or ns, of the seconds per call that `time_arms` gives."""
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
    """Two metrics of samples: their median and its IQR."""
    summary = summarise(samples)
    return {name: round(summary.median, 4), f"{name}_iqr": round(summary.iqr, 4)}


def ratio_metrics(name: str, ratio: Ratio) -> dict[str, float | str]:
    """Three metrics of a ratio: its median and the two ends of its interval."""
    return {
        name: round(ratio.median, 4),
        f"{name}_low": round(ratio.low, 4),
        f"{name}_high": round(ratio.high, 4),
    }


def speedup_of(old: Measurement, new: Measurement) -> Ratio:
    """How many times faster `new` is, from pairs of the same round."""
    return speedup(old.values, new.values)
