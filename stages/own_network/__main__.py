"""Run the stage: `python -m stages.own_network`."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tabulate import tabulate
from tqdm import tqdm

from lab.core.errors import LabError
from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.machine.compiler_cache import empty_compiler_cache
from lab.machine.devices import Devices, one_device, resolve
from lab.machine.fresh_process import call_in_subprocess
from lab.parallel.local_ranks import run_on_ranks
from lab.results.measurements import Measurement, Results, again, skip
from lab.results.reasons import FAILED, OFF, Reason
from lab.timing.bench import balanced_turns
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.deadline import until_deadline
from lab.timing.runner import write_results
from stages.own_network import findings
from stages.own_network.measure import names
from stages.own_network.measure.names import ALL, ALONE, BASELINE, TOGETHER
from stages.own_network.measure.params import Params
from stages.own_network.measure.training import (
    AS_IT_IS,
    ROUNDS,
    Plan,
    Sample,
    Variant,
    measure,
    trial,
)


@dataclass(frozen=True)
class Race:
    """What a race found, by variant; sample i is of start i."""

    samples: Mapping[str, Sequence[Sample]]
    unable: Mapping[str, Reason]


def race(
    variants: Mapping[str, Variant], starts: range, plan: Plan, devices: Devices, params: Params
) -> Race:
    """Measure each variant in a fresh process of its own for each start, one after the other.

    Start i has the weights and batches of seed i. A variant that fails leaves the race to others.

    Raises:
        LabError: the file as it is does not work.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in variants}
    unable: dict[str, Reason] = {}
    numbers = until_deadline(len(starts))
    for i in tqdm(numbers, "own network", len(starts), leave=False, disable=None):
        for name in balanced_turns(list(samples), 1, starts[i]):
            variant, given = variants[name], (plan, variants[name], params.seed + starts[i])
            try:
                if names.TWO_DEVICES in variant.techniques:
                    found = run_on_ranks(2, resolve(2, params.devices), measure, *given)
                else:
                    called, [device] = f"{plan.path}, {name},", devices.devices
                    found = call_in_subprocess(called, measure, device, *given, name == BASELINE)
            except LabError as error:  # such as that the system ended it, for want of memory
                if variant == AS_IT_IS:
                    raise
                found = Reason(FAILED, str(error))
            if isinstance(found, Reason):
                unable[name] = found
                del samples[name]
            else:
                samples[name].append(found)
    return Race(samples, unable)


def measure_all(params: Params, devices: Devices) -> tuple[list[Measurement], Metrics]:
    """Each technique alone on one half of the starts; on the other all that help, together."""
    p, [device] = params.own_network, devices.devices
    plan = Plan(Path(p.file), devices.threads)
    found = call_in_subprocess(p.file, trial, device, plan, params.seed)
    plan = replace(plan, steps=max(1, round(p.sample_s / ROUNDS / found.seconds)))
    lacking = dict(found.lacking)
    if not p.compile:
        lacking |= dict.fromkeys((names.COMPILE, names.GRAPH), Reason(OFF, "own_network.compile"))
    alone = {BASELINE: AS_IT_IS, again(BASELINE): AS_IT_IS}
    alone |= {name: Variant((name,)) for name in names.SAME_STEPS if name not in lacking}
    alone[names.LARGER_BATCH] = Variant(times=p.larger_batch)
    half = (p.starts + 1) // 2
    first = race(alone, range(half), plan, devices, params)
    measured = in_rows(ALONE, first, found.batch_size, p.larger_batch, devices)
    measured += [skip(ALONE, name, why, devices.kind) for name, why in lacking.items()]
    if best := findings.chosen(Results(measured)):
        together = {BASELINE: AS_IT_IS, ALL: Variant(tuple(best))}
        second = race(together, range(half, p.starts), plan, devices, params)
        measured += in_rows(TOGETHER, second, found.batch_size, p.larger_batch, devices)
        measured += [Measurement(names.COMBINED, name, 0, (1.0,)) for name in best]
    about: Metrics = {
        names.FILE: p.file,
        names.PARAMETERS: found.parameters,
        names.BATCH_SIZE: found.batch_size,
    }
    return measured, about


def in_rows(
    experiment: str, found: Race, batch_size: int, times: int, devices: Devices
) -> list[Measurement]:
    """A race's samples; of the noise control, and of the second race, times alone."""

    def row(
        experiment: str, variant: str, x: float, values: Iterable[float], unit: str = ""
    ) -> Measurement:
        kind, threads = devices.kind, devices.threads
        return Measurement(experiment, variant, x, tuple(values), unit, kind, threads)

    rows = []
    for name, samples in found.samples.items():
        size = batch_size * (times if name == names.LARGER_BATCH else 1)
        rows.append(row(experiment, name, size, (1e3 * s.seconds for s in samples), "ms"))
        if experiment == TOGETHER or name == again(BASELINE):
            continue
        rows.append(row(names.FIRST_STEP, name, 0, (s.first_step_s for s in samples), "s"))
        rows.append(row(names.PEAK_MEMORY, name, 0, (s.peak_mib for s in samples), "MiB"))
        for step, losses in enumerate(zip(*(s.losses for s in samples), strict=True)):
            rows.append(row(names.LOSS, name, step, losses, ""))
        for part in samples[0].parts:
            rows.append(row(names.PARTS, part, 0, (1e3 * s.parts[part] for s in samples), "ms"))
        for what, unit in ((names.FLOP, "GFLOP"), (names.BYTES, "GB")):
            if samples[0].counted:
                rows.append(row(names.COUNTED, what, 0, (s.counted[what] for s in samples), unit))
                rows.append(row(names.RATE, what, 0, (s.rates[what] for s in samples), f"{unit}/s"))
    return rows + [skip(experiment, name, why, devices.kind) for name, why in found.unable.items()]


def table(results: Results) -> str:
    """Each technique with what it gains, whether the training stays the same, and what it takes."""
    found, rows = findings.findings(results), []
    for name in names.TECHNIQUES:
        gain = findings.speedup(results, name)
        if not gain:
            rows.append([name, "", str(gain.missing)])
            continue
        memory, first = (
            results.samples(experiment, name).values[0]
            for experiment in (names.PEAK_MEMORY, names.FIRST_STEP)
        )
        rows.append(
            [
                name,
                f"{gain.value:.2f}",
                f"{gain.low:.2f}-{gain.high:.2f}",
                "yes" if name in names.SAME_STEPS and findings.same(results, name) else "no",
                f"{first:.2f}",
                f"{memory:.0f}",
            ]
        )
    if all_ := found["speedup"]:
        rows.append([ALL, f"{all_.value:.2f}", f"{all_.low:.2f}-{all_.high:.2f}"])
    columns = ["", "times as fast", "interval", "same training", "first step (s)", "memory (MiB)"]
    return str(tabulate(rows, columns, disable_numparse=True))


def main() -> None:
    """Measure and write rows and metrics."""
    params, watch = load(Params), LoadMonitor()
    devices = one_device(params.devices)
    with empty_compiler_cache():
        measured, about = measure_all(params, devices)
    starts = params.own_network.starts // 2
    about = {**about, **conditions(measured, devices, watch, starts)}
    write_results("own_network", measured, about, findings)
    print(table(Results(measured, about)))


if __name__ == "__main__":
    sys.exit(run(main))
