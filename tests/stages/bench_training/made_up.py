"""Made-up results of bench_training on a CPU or a GPU."""

from dataclasses import replace

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, again, skip
from stages.bench_training.measure import names
from tests.made_up import one

RATES = {  # in GFLOP/s and GB/s
    names.ARITHMETIC["fp32"]: 200.0,
    names.ARITHMETIC["tf32"]: 400.0,
    names.ARITHMETIC["bf16"]: 1000.0,
    names.COPIES: 50.0,
}
PARTS = {  # ms, GFLOP, GFLOP in vectors, MB
    "convolutions": (10.0, 1.6, 2.0, 100.0),
    "pooling": (8.0, 0.0, 0.0, 150.0),
}
LENET = {
    names.FOUR_WORKERS: 100.0,
    names.NO_WORKERS: 90.0,
    names.ENGINE: 30.0,
    again(names.ENGINE): 30.0,
    names.BF16: 20.0,
    names.PLAIN: 33.0,
}
GRAPHS = {names.GRAPH: 20.0, names.FP32: 25.0, names.COMPILED_BF16: 10.0}  # only on GPUs
RESNET18 = {names.NO_WORKERS: 90.0, names.ENGINE: 80.0, names.BF16: 40.0}
ON_DEVICES = {
    names.NOTES_LENET: {names.ONE_DEVICE: 10.0, names.LOOP: 9.6, names.THREADS: 8.0},
    names.WIDE: {names.ONE_DEVICE: 40.0, names.LOOP: 30.0, names.THREADS: 20.0},
}
NOTES_WORKERS = 0  # the number that a trial found faster


def measurements(kind: DeviceKind) -> list[Measurement]:
    lenet = dict(LENET)
    if kind == "cuda":
        lenet |= {names.COMPILED: 15.0, names.TF32: 25.0, names.LIGHTNING: 108.0} | GRAPHS
    resnet = RESNET18 | (GRAPHS if kind == "cuda" else {})
    made = [one(names.LENET, name, ms, kind, 256) for name, ms in lenet.items()]
    made += [one(names.RESNET18, name, ms, kind, 256) for name, ms in resnet.items()]
    made += [
        one(names.RATE, name, rate, kind)
        for name, rate in RATES.items()
        if kind == "cuda" or name != names.ARITHMETIC["tf32"]
    ]
    made += [
        replace(
            one(names.PARTS, part, ms, kind, 256),
            columns={"net": net, "loop": loop, "gflop": own, "vector_gflop": all_, "mb": mb},
        )
        for net in names.NETS
        for loop in (names.ENGINE, names.BF16)
        for part, (ms, own, all_, mb) in PARTS.items()
    ]
    made += [
        one(experiment, name, ms, kind, 256)
        for experiment, variants in ON_DEVICES.items()
        for name, ms in variants.items()
    ]
    if kind == "cuda":
        return made
    return [*made, skip(names.LENET, names.LIGHTNING, "needs PyTorch Lightning", kind)]


def conditions(made: list[Measurement]) -> dict[str, float | str]:
    [two_devices] = {m.device_kind for m in made if m.experiment == names.WIDE}
    return {
        names.NOTES_WORKERS: NOTES_WORKERS,
        names.TWO_DEVICES: two_devices,
        names.VECTOR_LENGTH: 16,
    }
