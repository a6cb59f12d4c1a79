"""What a measurement was taken on: devices, other processes' load, the machine's speed, noise."""

from collections.abc import Sequence
from functools import partial

import psutil
import torch

from lab.machine.devices import Devices, usable_cores
from lab.results.measurements import Measurement, Results, controls
from lab.results.stats import SMALLEST_EFFECT, median_ratio, summarise
from lab.timing.bench import Arm
from lab.timing.clock import read_clock
from lab.timing.names import COPY_SPEEDS, PRODUCT_SPEEDS

PRODUCT_ROWS = 1024
COPIED_MIB = 64
READINGS = 7  # of each, of which the median counts


class Watch:
    """How fast the machine is, and how busy other processes keep it from now on."""

    def __init__(self) -> None:
        """Measure the machine's speed, then start watching."""
        self.before = self.speed()
        self._others, self._all = _processor_seconds()

    def speed(self) -> tuple[float, float]:
        """The machine's speed right now, as of `machine_speed`."""
        return machine_speed()

    def busy_percent(self) -> float:
        """Share of all cores' time that went to processes other than this one and its children."""
        others, all_ = _processor_seconds()
        return 100 * max(0.0, others - self._others) / max(1e-9, all_ - self._all)


def machine_speed() -> tuple[float, float]:
    """The processor's speed right now: GFLOP/s of a fixed product, GB/s of a fixed copy.

    Float32 products of 1024 rows and copies of 64 MiB, read and written, by all usable cores; the
    medians of seven. They tell a faster machine from faster code (`invoke compare`).
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(usable_cores())
    try:
        a = torch.rand(PRODUCT_ROWS, PRODUCT_ROWS)
        source = torch.rand(COPIED_MIB * 2**18)
        product_s = _median_seconds(partial(torch.mm, a, a, out=torch.empty_like(a)))
        copy_s = _median_seconds(partial(torch.empty_like(source).copy_, source))
    finally:
        torch.set_num_threads(threads)
    return 2 * PRODUCT_ROWS**3 / product_s / 1e9, 2 * source.nbytes / copy_s / 1e9


def _median_seconds(arm: Arm) -> float:
    cpu = [torch.device("cpu")]
    arm()
    seconds = []
    for _ in range(READINGS):
        start = read_clock(cpu)
        arm()
        seconds.append(read_clock(cpu) - start)
    return summarise(seconds).median


def _processor_seconds() -> tuple[float, float]:
    """Seconds that other processes computed, and that all cores had, since the machine started.

    Children of this process, alive or ended, are no others.
    """
    machine, me = psutil.cpu_times(), psutil.Process()
    own = sum(map(_own_seconds, [me, *me.children(recursive=True)]))
    idle = machine.idle + getattr(machine, "iowait", 0)
    total = (
        machine.user
        + machine.system
        + getattr(machine, "nice", 0)
        + getattr(machine, "steal", 0)
        + idle
    )
    return total - idle - own, total


def _own_seconds(process: psutil.Process) -> float:
    """Seconds that a process computed, and its children that have ended."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:  # just now
        return 0.0
    ended = getattr(times, "children_user", 0) + getattr(times, "children_system", 0)
    return float(times.user + times.system + ended)


def speed_metrics(watch: Watch) -> dict[str, float | str]:
    """The machine's speed before and after, four metrics."""
    products, copies = zip(watch.before, watch.speed(), strict=True)
    found = dict(zip((*PRODUCT_SPEEDS, *COPY_SPEEDS), (*products, *copies), strict=True))
    return {name: round(speed, 3) for name, speed in found.items()}


def conditions(
    measurements: Sequence[Measurement], devices: Devices, watch: Watch, starts: int
) -> dict[str, float | str]:
    """What every benchmark's metrics begin with: devices, starts, load, speed, noise, controls.

    `control_over` and `control_under` count the starts in which an arm against itself looked faster
    or slower by more than 2 %; `false_speedups` the controls whose interval says so.
    """
    ratios = [ratio for _, ratio in controls(measurements)]
    each = [r for ratio in ratios for r in ratio]
    timed = [m for m in measurements if len(m.values) > 1]
    return {
        "device_kind": devices.kind,
        "num_devices": len(devices.devices),
        "threads_per_device": devices.threads,
        "starts": starts,
        "busy_percent": round(watch.busy_percent(), 1),
        **speed_metrics(watch),
        "noisy_percent": round(100 * sum(m.summary.noisy for m in timed) / max(1, len(timed)), 1),
        "skipped": len(Results(measurements).skipped()),
        "controls": len(ratios),
        "false_speedups": sum(median_ratio(r).verdict != "inconclusive" for r in ratios),
        "control_starts": len(each),
        "control_over": sum(r > 1 + SMALLEST_EFFECT for r in each),
        "control_under": sum(r < 1 / (1 + SMALLEST_EFFECT) for r in each),
    }
