"""The conditions of a measurement: devices, load by other processes, machine speed, noise."""

import time
from collections.abc import Sequence
from functools import partial
from statistics import fmean, stdev

import psutil
import torch

from lab.core.files import Metrics
from lab.machine.devices import Devices
from lab.machine.gpus.driver import NoAnswerError, query
from lab.machine.limits import allowed_cores, quota_cores
from lab.results.disturbances import (
    BUSY_PERCENT,
    COPY_SPEEDS,
    LIMIT_PERCENT,
    MEAN_SPEED,
    NOT_MEASURABLE,
    PRODUCT_SPEEDS,
    SPEED_ERROR,
    over_limit,
)
from lab.results.findings import Samples, median
from lab.results.measurements import Measurement, Results, controls, disturbances
from lab.results.reasons import DISTURBED, GPU_BUSY, NEEDS_CORES, Reason, joined
from lab.results.stats import SMALLEST_EFFECT, summarise
from lab.timing import snapshot
from lab.timing.bench import Variant, launch_bound
from lab.timing.clock import read_clock

PRODUCT_ROWS = 1024
COPIED_MIB = 64
SPEED_SAMPLES = 3  # per speed, of which the median counts; more in a row add no information
GPU_QUERY_S = 10
GPU_PAUSE_S = 2.0


class LoadMonitor:
    """The machine's speed at creation, and the load and disturbances since then.

    Create it before the process uses a GPU, so that a GPU's load comes from other processes.
    """

    def __init__(self) -> None:
        self.gpu_percent = gpu_percent()
        self.before = self.speed()
        self.between: list[float] = []  # readings of the matrix product's speed
        self._cores = allowed_cores()
        self._others, self._all = _processor_seconds(self._cores)
        self._began = snapshot.read()

    def speed(self) -> tuple[float, float]:
        """Return the GFLOP/s of a fixed matrix product right now, and the GB/s of a fixed copy."""
        return product_speed(), copy_speed()

    def look(self) -> None:
        """Read the matrix product's speed: on a shared machine it changes within seconds."""
        self.between.append(product_speed())

    def busy_percent(self) -> float:
        """Return the share of the cores' time used by processes other than this one's family.

        The family is this process and its children. The cores are those that this process could use
        when the monitor was created.
        """
        others, all_ = _processor_seconds(self._cores)
        return 100 * max(0.0, others - self._others) / max(1e-9, all_ - self._all)

    def disturbances(self) -> list[Reason]:
        """Return what disturbed this process, including the GPUs' load at the beginning."""
        found = snapshot.between(self._began, snapshot.read())
        if self.gpu_percent > LIMIT_PERCENT:
            found.append(Reason(GPU_BUSY, over_limit(self.gpu_percent)))
        return found


def gpu_percent() -> float:
    """Return the utilization of the busiest GPU in percent; 0 if unknown.

    The driver averages over up to a second, and so may include the load of a stage that has just
    ended. A busy GPU is queried again after a pause.
    """
    if not torch.cuda.device_count():
        return 0.0
    found = _utilization()
    if found > LIMIT_PERCENT:
        time.sleep(GPU_PAUSE_S)
        found = min(found, _utilization())
    return found


def _utilization() -> float:
    try:
        found = query("utilization.gpu", seconds=GPU_QUERY_S)
        return max((float(percent) for [percent] in found), default=0.0)
    except (NoAnswerError, ValueError):  # a MIG slice has no utilization
        return 0.0


def product_speed() -> float:
    """Return the GFLOP/s of a float32 product of 1024 × 1024 matrices right now.

    Like `copy_speed`, it distinguishes a faster machine from faster code (`invoke compare`).
    """
    a = torch.rand(PRODUCT_ROWS, PRODUCT_ROWS)
    seconds = _median_seconds(partial(torch.mm, a, a, out=torch.empty_like(a)))
    return 2 * PRODUCT_ROWS**3 / seconds / 1e9


def copy_speed() -> float:
    """Return the GB/s, read and written, of a copy of 64 MiB right now."""
    source = torch.ones(COPIED_MIB * 2**18)
    seconds = _median_seconds(partial(torch.empty_like(source).copy_, source))
    return 2 * source.nbytes / seconds / 1e9


def _median_seconds(variant: Variant) -> float:
    """Return the median of a few samples on all cores, even in a rank with fewer threads."""
    cpu, threads, seconds = [torch.device("cpu")], torch.get_num_threads(), []
    torch.set_num_threads(max(1, int(min(len(allowed_cores()), quota_cores()))))
    try:
        variant()
        for _ in range(SPEED_SAMPLES):
            start = read_clock(cpu)
            variant()
            seconds.append(read_clock(cpu) - start)
    finally:
        torch.set_num_threads(threads)
    return summarise(seconds).median


def _processor_seconds(cores: Sequence[int]) -> tuple[float, float]:
    """Return CPU seconds of other processes, and of these cores in all, since the machine started.

    Children of this process, alive or ended, do not count as other processes.
    """
    each, me = psutil.cpu_times(percpu=True), psutil.Process()
    there = [core for core in cores if core < len(each)]  # all, unless some are offline
    idle = sum(each[core].idle + getattr(each[core], "iowait", 0) for core in there)
    counted = ("user", "system", "nice", "steal")
    busy = sum(getattr(each[core], name, 0) for core in there for name in counted)
    own = sum(map(_own_seconds, [me, *me.children(recursive=True)]))
    return busy - own, busy + idle


def _own_seconds(process: psutil.Process) -> float:
    """Return the CPU seconds of a process and of its ended children."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:  # it ended just now
        return 0.0
    ended = getattr(times, "children_user", 0) + getattr(times, "children_system", 0)
    return float(times.user + times.system + ended)


def speed_metrics(watch: LoadMonitor) -> dict[str, float | str]:
    """Return the machine's speeds before and after, and the mean of all readings with its error."""
    (product, copy), (product_after, copy_after) = watch.before, watch.speed()
    products = [product, *watch.between, product_after]
    found = {
        **dict(zip(PRODUCT_SPEEDS, (product, product_after), strict=True)),
        **dict(zip(COPY_SPEEDS, (copy, copy_after), strict=True)),
        MEAN_SPEED: fmean(products),
        SPEED_ERROR: stdev(products) / len(products) ** 0.5,
    }
    return {name: round(speed, 3) for name, speed in found.items()}


def load_metrics(watch: LoadMonitor, measurements: Sequence[Measurement] = ()) -> Metrics:
    """Return the load by other processes, and what disturbed the measurements, if anything."""
    disturbed = joined([*watch.disturbances(), *disturbances(measurements)])
    return {
        BUSY_PERCENT: round(watch.busy_percent(), 1),
        **({DISTURBED: disturbed} if disturbed else {}),
    }


def lack_metrics(devices: Devices, jobs_at_once: int) -> Metrics:
    """Return a metric if several concurrent jobs would share one core; none otherwise."""
    cores = min(len(allowed_cores()), quota_cores())
    if devices.kind == "cpu-virtual" and cores < 2 <= jobs_at_once:
        return {NOT_MEASURABLE: str(Reason(NEEDS_CORES, "2"))}
    return {}


def conditions(
    measurements: Sequence[Measurement],
    devices: Devices,
    watch: LoadMonitor,
    starts: int,
    jobs_at_once: int = 1,
) -> dict[str, float | str]:
    """Return the conditions of every benchmark: devices, starts, load, speed, noise, controls.

    `control_over` and `control_under` count the starts in which a variant compared with itself
    looked faster or slower by more than 2 %. `false_speedups` counts the controls whose interval
    says so. Numbers without a unit are not timings, and do not count as noisy.
    """
    ratios = [ratio for _, ratio in controls(measurements)]
    each = [r for ratio in ratios for r in ratio]
    # counts stay the same, and what varies with seeds has no unit
    timed = [m for m in measurements if m.unit and len(set(m.values)) > 1]
    return {
        "device_kind": devices.kind,
        "num_devices": len(devices.devices),
        "threads_per_device": devices.threads,
        "starts": min([starts, *map(len, ratios)]),  # a deadline may have left fewer
        **lack_metrics(devices, jobs_at_once),
        **launch_bound(measurements),
        **load_metrics(watch, measurements),
        **speed_metrics(watch),
        "noisy_percent": round(100 * sum(m.summary.noisy for m in timed) / max(1, len(timed)), 1),
        "skipped": len(Results(measurements).skipped()),
        "controls": len(ratios),
        "false_speedups": sum(median(Samples(tuple(r))).verdict != "inconclusive" for r in ratios),
        "control_starts": len(each),
        "control_over": sum(r > 1 + SMALLEST_EFFECT for r in each),
        "control_under": sum(r < 1 / (1 + SMALLEST_EFFECT) for r in each),
    }
