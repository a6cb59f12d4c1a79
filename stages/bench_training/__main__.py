"""Run the stage: `python -m stages.bench_training`."""

import sys
from collections.abc import Mapping, Sequence

import torch

from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import dataset_name
from lab.data.loaders import WORKER_START
from lab.machine.devices import computes_in_bf16, processor, resolve, usable_cores
from lab.nets.step_parts import StepPart, vector_length
from lab.results.measurements import Measurement, skip
from lab.timing.conditions import LoadMonitor, conditions
from lab.timing.deadline import traces_folder
from lab.timing.runner import write_results
from stages.bench_training import findings
from stages.bench_training.measure import names
from stages.bench_training.measure.params import Params, TrainingParams
from stages.bench_training.measure.race import race
from stages.bench_training.measure.variants import (
    Machine,
    TrainingVariant,
    by_the_notes,
    lacking,
    variants_of,
)

TRIAL_STARTS = 1


def measure(p: TrainingParams, machine: Machine, notes_workers: int) -> list[Measurement]:
    variants = variants_of(p, machine, notes_workers)
    found = race(variants, p.starts, traces_folder())
    measured = [row(variants[key], key, ms, machine) for key, ms in found.seconds.items()]
    for key, steps in found.parts.items():
        measured += parts_in_rows(variants[key], key, steps, machine)
    measured += [skip(*key, reason, machine.device) for key, reason in found.unable.items()]
    return measured + lacking(p, machine)


def trial(p: TrainingParams, machine: Machine) -> int:
    """Find, in a short race, the number of loader workers with which the notes' loop is faster."""
    shorter = p.but(lenet_steps=max(1, p.lenet_steps // 2))
    seconds = race(by_the_notes(shorter, machine), TRIAL_STARTS).seconds
    return min(seconds, key=lambda workers: sum(seconds[workers]))


def row(
    variant: TrainingVariant, key: tuple[str, str], seconds: Sequence[float], machine: Machine
) -> Measurement:
    """Return a variant's samples: ms per step, or for a rate GB/s or GFLOP/s."""
    experiment, name = key
    if experiment == names.RATE:
        unit = "GB/s" if variant.kind == "copies" else "GFLOP/s"
        rates = tuple(1 / s for s in seconds)
        return Measurement(experiment, name, 0, rates, unit, machine.device, variant.threads)
    kind = machine.two_devices if experiment in names.ON_DEVICES else None
    ms = tuple(1e3 * s for s in seconds)
    return Measurement(
        experiment, name, variant.batch_size, ms, "ms", kind or machine.device, variant.threads
    )


def parts_in_rows(
    variant: TrainingVariant,
    key: tuple[str, str],
    steps: Sequence[Mapping[str, StepPart]],
    machine: Machine,
) -> list[Measurement]:
    """Return one row per kind of operation in a variant's step: its ms, FLOP and bytes."""
    net, loop = key
    return [
        Measurement(
            names.PARTS,
            kind,
            variant.batch_size,
            tuple(1e3 * step[kind].seconds for step in steps),
            "ms",
            machine.device,
            variant.threads,
            columns={
                "net": net,
                "loop": loop,
                "gflop": part.flop / 1e9,
                "vector_gflop": part.vector_flop / 1e9,
                "mb": part.num_bytes / 1e6,
            },
        )
        for kind, part in steps[0].items()
    ]


def main() -> None:
    params = load(Params)
    p, watch = params.bench_training, LoadMonitor()
    devices, cores, gpus = resolve(1, params.devices), usable_cores(), torch.cuda.device_count()
    bf16 = computes_in_bf16(devices.devices[0])
    machine = Machine("cuda" if gpus else "cpu", gpus, cores, devices.threads, bf16)
    if not gpus:  # a variant of one process has the whole CPU
        devices = processor(cores)
    notes_workers = trial(p, machine)
    measured = measure(p, machine, notes_workers)
    about = {
        "dataset": dataset_name(),
        "worker_start": WORKER_START,
        **conditions(measured, devices, watch, p.starts),
        names.NOTES_WORKERS: notes_workers,
        names.VECTOR_LENGTH: vector_length(devices.devices[0]),
        names.TWO_DEVICES: machine.two_devices or "none",
    }
    write_results("bench_training", measured, about, findings)


if __name__ == "__main__":
    sys.exit(run(main))
