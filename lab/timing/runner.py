"""The runner of all stages that measure in fresh processes.

A program can be a quarter faster or slower from one process to the next, because of its memory
layout, which no repetition within a process shows. So a stage measures in fresh processes,
sequentially. The median of one process is one sample, and an interval over these samples covers
the variation between processes.

A stage defines what each process measures, and what is measured once. A Benchmark handles
processes, their number before a deadline, load, disturbances, conditions and files.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from tqdm import tqdm

from lab.core.errors import LabError
from lab.core.files import CONDITIONS, REPORTS, Metrics, write_json, write_rows
from lab.machine.devices import Devices
from lab.machine.fresh_process import call_in_subprocess
from lab.machine.hardware import add_machine
from lab.results.derived import Derivation, write_metrics
from lab.results.measurements import Measurement, disturbances, rows_of
from lab.results.reasons import DISTURBED, Reason, joined
from lab.results.stats import summarise as summary_of
from lab.timing import snapshot
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.deadline import until_deadline

Measured = Sequence[Measurement]
# call(name, work, *args) returns work(*args) from a fresh process, or from the first of several
Call = Callable[..., Any]


def write_results(
    stage: str, measured: Measured, conditions: Metrics, derivation: Derivation
) -> None:
    """Write a stage's rows, its conditions with the machine, and its metrics."""
    folder = REPORTS / stage
    write_rows(folder, rows_of(measured))
    write_json(folder / CONDITIONS, conditions)
    add_machine(folder)
    write_metrics(folder, derivation)


class Benchmark:
    """A benchmark from start to files: processes, load, disturbances, conditions.

    Create it before the process uses a GPU.
    """

    def __init__(self, stage: str, devices: Devices) -> None:
        self.stage, self.devices = stage, devices
        self._load, self._processes = LoadMonitor(), 0

    def repeat(
        self,
        processes: int,
        measure: Callable[..., Measured],
        *args: Any,
        call: Call = call_in_subprocess,
    ) -> list[Measurement]:
        """Run `measure(i, *args)` in fresh processes i; return measurements, a sample of each."""

        def look_and_call(*given: Any) -> Any:
            self._load.look()
            return call(*given)

        self._processes = processes
        return measure_in_processes(self.stage, processes, measure, *args, call=look_and_call)

    def write(
        self,
        measured: Measured,
        derivation: Derivation,
        jobs_at_once: int = 1,
        **settings: float | str,
    ) -> None:
        """Write the rows, the conditions and the metrics.

        Args:
            measured: all measurements.
            derivation: the stage's findings.py.
            jobs_at_once: number of jobs timed concurrently; two need two cores.
            settings: conditions that texts mention or that claims need.
        """
        found = conditions(measured, self.devices, self._load, self._processes, jobs_at_once)
        write_results(self.stage, measured, {**settings, **found}, derivation)


def measure_in_processes(
    name: str,
    processes: int,
    measure: Callable[..., Measured],
    *args: Any,
    call: Call = call_in_subprocess,
) -> list[Measurement]:
    """Run `measure(i, *args)` in fresh processes; each sample is the median of one process.

    Raises:
        LabError: a process failed, or did not measure the same things as the first.
    """
    return merge(in_processes(name, processes, partial(_watched, measure), *args, call=call))


def in_processes(
    name: str, processes: int, work: Callable[..., Any], *args: Any, call: Call = call_in_subprocess
) -> list[Any]:
    """Return `work(i, *args)` from fresh processes i, run sequentially; `args` are pickled.

    A deadline may leave fewer processes.

    Raises:
        LabError: a process failed.
    """
    numbers = tqdm(until_deadline(processes), name, total=processes, leave=False, disable=None)
    return [call(f"{name}, process {i},", work, i, *args) for i in numbers]


def _watched(measure: Callable[..., Measured], *args: Any) -> Measured:
    """Return what a process measured, with a remark if something disturbed it."""
    before = snapshot.read()
    found = measure(*args)
    happened = joined(snapshot.between(before, snapshot.read()))
    if not happened:
        return found
    remark = str(Reason(DISTURBED, happened))
    return [replace(m, remark=m.remark or remark) for m in found]


def merge(processes: Sequence[Measured]) -> list[Measurement]:
    """Merge measurements with the same key: one sample from each process, in their order.

    Raises:
        LabError: a process did not measure the same things as the first.
    """
    keys = [[m.key for m in measured] for measured in processes]
    if any(sorted(each) != sorted(keys[0]) for each in keys):
        raise LabError("two processes of a benchmark measured different things; measure it again")
    by_key = sorted((m for measured in processes for m in measured), key=lambda m: m.key)  # stable
    merged = {key: _over_processes(list(same)) for key, same in groupby(by_key, lambda m: m.key)}
    return [merged[key] for key in keys[0]]


def _over_processes(same: Measured) -> Measurement:
    without = [m for m in same if not m.values]
    if without:
        return without[0]
    happened = joined(disturbances(same))
    return replace(
        same[0],
        values=tuple(summary_of(m.values).median for m in same),
        remark=str(Reason(DISTURBED, happened)) if happened else same[0].remark,
    )
