"""Run the stage: `python -m stages.own_network`."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from tabulate import tabulate
from tqdm import tqdm

from lab.core.errors import LabError, MachineError
from lab.core.files import Metrics
from lab.core.params import load
from lab.core.process import run
from lab.machine.compiler_cache import empty_compiler_cache
from lab.machine.devices import Devices, one_device, resolve
from lab.machine.fresh_process import FreshProcess, call_in_subprocess, fresh_process, preload
from lab.parallel.process_group import place, rendezvous_store
from lab.results.measurements import Measurement, Results, again, skip
from lab.results.reasons import FAILED, OFF, Reason
from lab.timing.bench import balanced_turns
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.deadline import until_deadline
from lab.timing.runner import write_results
from stages.own_network import findings
from stages.own_network.measure import names
from stages.own_network.measure.names import ALL, ALONE, BASELINE, OPPONENT, TOGETHER
from stages.own_network.measure.params import Params
from stages.own_network.measure.training import (
    AS_IT_IS,
    END,
    TIMEOUT_S,
    TURN,
    FirstSteps,
    Plan,
    Step,
    Variant,
    serve,
    trial,
)

ROUNDS = 7  # turns of each of two processes


class UnableError(LabError):
    """A technique does not work with the reader's network."""


@dataclass(frozen=True)
class Trained:
    """The processes that train a variant: one, or a rank for each of several devices."""

    variant: Variant
    processes: Sequence[FreshProcess]

    def ask(self, what: str = "") -> list[Any]:
        """Return what each process sends, upon a request or by itself.

        Raises:
            UnableError: a technique does not work.
            LabError: the file as it is does not.
        """
        try:
            for process in self.processes if what else ():
                process.send(what)
            return [process.receive(TIMEOUT_S) for process in self.processes]
        except TimeoutError:
            found: LabError = MachineError(
                f"{self.processes[0].name}: no step within {TIMEOUT_S} s; look for what waits, such"
                " as a loader's workers"
            )
        except LabError as error:  # such as that the system ended it, for want of memory
            found = error
        raise found if self.variant == AS_IT_IS else UnableError(str(found))


@contextmanager
def training(
    variant: Variant, plan: Plan, devices: Devices, params: Params, seed: int
) -> Iterator[Trained]:
    """Train a variant in fresh processes."""
    environments: list[Mapping[str, str]] = [{}]
    if names.TWO_DEVICES in variant.techniques:
        devices = resolve(2, params.devices)
        store = rendezvous_store(TIMEOUT_S)
        environments = [place(rank, 2, devices.threads, store.port) for rank in range(2)]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                fresh_process(str(plan.path), serve, devices, environment, plan, variant, seed)
            )
            for environment in environments
        ]
        yield Trained(variant, processes)


@dataclass(frozen=True)
class Sample:
    """What one start measured of a variant."""

    seconds: float
    opponent_s: float  # of the file as it is, alternating with the variant
    first: FirstSteps
    step: Step


def alternate(baseline: Trained, tried: Trained) -> Sample:
    """Let two variants train in turns, alternately first; return the medians of their turns."""
    [first, *_] = tried.ask()
    own_s: list[float] = []
    opponent_s: list[float] = []
    for i in range(ROUNDS):
        turns = [(tried, own_s), (baseline, opponent_s)]
        for each, seconds in reversed(turns) if i % 2 else turns:
            seconds.append(max(each.ask(TURN)))
    return Sample(median(own_s), median(opponent_s), first, tried.ask(END)[0])


@dataclass(frozen=True)
class Race:
    """The samples of a race; sample i is from start i.

    Attributes:
        samples: by variant.
        baselines: of the processes that train the file as it is.
        unable: the reasons of variants that do not work.
    """

    samples: dict[str, list[Sample]]
    baselines: list[tuple[FirstSteps, Step]] = field(default_factory=list)
    unable: dict[str, Reason] = field(default_factory=dict)


def race(
    variants: Mapping[str, Variant], starts: range, plan: Plan, devices: Devices, params: Params
) -> Race:
    """Time each variant alternating with the file as it is, in fresh processes for each start.

    Start i has the weights and batches of seed i. A variant that fails leaves the race.

    Raises:
        LabError: the file as it is does not work.
    """
    found = Race({name: [] for name in variants})
    numbers = until_deadline(len(starts))
    for i in tqdm(numbers, "own network", len(starts), leave=False, disable=None):
        given = (plan, devices, params, params.seed + starts[i])
        with training(AS_IT_IS, *given) as baseline:
            [first] = baseline.ask()
            for name in balanced_turns(list(found.samples), 1, starts[i]):
                try:
                    with training(variants[name], *given) as tried:
                        found.samples[name].append(alternate(baseline, tried))
                except UnableError as error:
                    found.unable[name] = Reason(FAILED, str(error))
                    del found.samples[name]
            found.baselines.append((first, *baseline.ask(END)))
        # the first has built as a reader's script does
        if i == 0 and names.COMPILE in found.samples:
            preload(["lab.machine.inductor"])
    return found


def measure_all(params: Params, devices: Devices) -> tuple[list[Measurement], Metrics]:
    """Measure each technique alone, then the combination of those that help in other starts."""
    p, [device] = params.own_network, devices.devices
    plan = Plan(Path(p.file))
    found = call_in_subprocess(p.file, trial, device, plan, devices.threads, params.seed)
    plan = replace(plan, steps=max(1, round(p.sample_s / ROUNDS / found.seconds)))
    lacking = dict(found.lacking)
    if not p.compile:
        lacking |= dict.fromkeys((names.COMPILE, names.GRAPH), Reason(OFF, "own_network.compile"))
    alone = {again(BASELINE): AS_IT_IS}
    alone |= {name: Variant((name,)) for name in names.SAME_STEPS if name not in lacking}
    alone[names.LARGER_BATCH] = Variant(times=p.larger_batch)
    choosing = range((p.starts + 1) // 2)
    first = race(alone, choosing, plan, devices, params)
    measured = in_rows(ALONE, first, found.batch_size, p.larger_batch, devices)
    measured += [skip(ALONE, name, why, devices.kind) for name, why in lacking.items()]
    if best := findings.chosen(Results(measured)):
        together = {ALL: Variant(tuple(best))}
        judging = range(len(choosing), len(choosing) + p.starts)
        second = race(together, judging, plan, devices, params)
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
    """Return the samples of a race as measurements."""

    def row(
        experiment: str, variant: str, x: float, values: Iterable[float], unit: str = ""
    ) -> Measurement:
        kind, threads = devices.kind, devices.threads
        return Measurement(experiment, variant, x, tuple(values), unit, kind, threads)

    def of_processes(variant: str, seen: Sequence[tuple[FirstSteps, Step]]) -> list[Measurement]:
        first_s = (first.first_step_s for first, _ in seen)
        losses = zip(*(first.losses for first, _ in seen), strict=True)
        return [
            row(names.FIRST_STEP, variant, 0, first_s, "s"),
            row(names.PEAK_MEMORY, variant, 0, (step.peak_mib for _, step in seen), "MiB"),
            *(row(names.LOSS, variant, step, each) for step, each in enumerate(losses)),
        ]

    rows = []
    for name, samples in found.samples.items():
        size = batch_size * (times if name == names.LARGER_BATCH else 1)
        rows.append(row(experiment, name, size, (1e3 * s.seconds for s in samples), "ms"))
        opponent = (1e3 * s.opponent_s for s in samples)
        if name in (ALL, again(BASELINE)):
            rows.append(row(experiment, BASELINE, batch_size, opponent, "ms"))
            continue
        rows.append(row(OPPONENT, name, batch_size, opponent, "ms"))
        rows += of_processes(name, [(s.first, s.step) for s in samples])
    if experiment == ALONE:
        rows += of_processes(BASELINE, found.baselines)
        steps = [step for _, step in found.baselines]
        for part in steps[0].parts:
            rows.append(row(names.PARTS, part, 0, (1e3 * s.parts[part] for s in steps), "ms"))
        for what, unit in ((names.FLOP, "GFLOP"), (names.BYTES, "GB")):
            rows.append(row(names.COUNTED, what, 0, (s.counted[what] for s in steps), unit))
            rows.append(row(names.RATE, what, 0, (s.rates[what] for s in steps), f"{unit}/s"))
    return rows + [skip(experiment, name, why, devices.kind) for name, why in found.unable.items()]


def table(results: Results) -> str:
    """Return a table of the techniques: gain, same training or not, first step and memory."""
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
                kept(results, name),
                f"{first:.2f}",
                f"{memory:.0f}",
            ]
        )
    if all_ := found["speedup"]:
        rows.append([ALL, f"{all_.value:.2f}", f"{all_.low:.2f}-{all_.high:.2f}"])
    columns = ["", "times as fast", "interval", "same training", "first step (s)", "memory (MiB)"]
    return str(tabulate(rows, columns, disable_numparse=True))


def kept(results: Results, name: str) -> str:
    """Return whether a technique leaves the training the same, as far as seeds tell."""
    if not findings.seeds_differ(results):
        return ""
    return "yes" if name in names.SAME_STEPS and findings.same(results, name) else "no"


def main() -> None:
    """Measure and write rows and metrics."""
    params, watch = load(Params), LoadMonitor()
    devices = one_device(params.devices)
    with empty_compiler_cache():
        measured, about = measure_all(params, devices)
    starts = (params.own_network.starts + 1) // 2
    about = {**about, **conditions(measured, devices, watch, starts)}
    write_results("own_network", measured, about, findings)
    print(table(Results(measured, about)))


if __name__ == "__main__":
    sys.exit(run(main))
