"""Made-up results of bench_training, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement, again, skip
from stages.bench_training.measure import params as names
from tests.made_up import one

PRODUCTS = {names.PRODUCT: 80.0, names.TF32_PRODUCT: 60.0, names.BF16_PRODUCT: 50.0}
PRODUCTS_PER_STEP = {names.LENET: 0.2, names.RESNET18: 1.1}
CONVOLUTIONS = dict.fromkeys(names.CONVOLUTION_OF.values(), 7.0)
CONVOLUTIONS_PER_STEP = {names.LENET: 2.0, names.RESNET18: 11.0}
LENET = {
    names.FOUR_WORKERS: 100.0,
    names.NO_WORKERS: 90.0,
    names.ENGINE: 30.0,
    again(names.ENGINE): 30.0,
    names.BF16: 20.0,
    names.PLAIN: 33.0,
}
GRAPHS = {names.GRAPH: 20.0, names.FP32: 25.0, names.COMPILED_BF16: 10.0}  # of GPUs
RESNET18 = {names.NO_WORKERS: 90.0, names.ENGINE: 80.0, names.BF16: 40.0}
ON_DEVICES = {
    names.NOTES_LENET: {names.ONE_DEVICE: 10.0, names.LOOP: 9.6, names.THREADS: 8.0},
    names.LARGE_BATCH: {names.ONE_DEVICE: 40.0, names.THREADS: 25.0},
    names.WIDE: {names.ONE_DEVICE: 40.0, names.LOOP: 30.0, names.THREADS: 20.0},
}
NOTES_WORKERS = 0  # what a trial found faster


def measurements(kind: DeviceKind) -> list[Measurement]:
    lenet = dict(LENET)
    if kind == "cuda":
        lenet |= {names.COMPILED: 15.0, names.TF32: 25.0, names.LIGHTNING: 108.0} | GRAPHS
    resnet = RESNET18 | (GRAPHS if kind == "cuda" else {})
    made = [one(names.LENET, name, ms, kind, 256) for name, ms in lenet.items()]
    made += [one(names.RESNET18, name, ms, kind, 256) for name, ms in resnet.items()]
    made += [
        one(net, name, ms, kind, per_step[net])
        for net in names.NETS
        for peaks, per_step in (
            (PRODUCTS, PRODUCTS_PER_STEP),
            (CONVOLUTIONS, CONVOLUTIONS_PER_STEP),
        )
        for name, ms in peaks.items()
        if kind == "cuda" or "tf32" not in name
    ]
    made += [
        one(experiment, name, ms, kind, 256)
        for experiment, variants in ON_DEVICES.items()
        for name, ms in variants.items()
    ]
    made += [
        Measurement(names.BY_HAND, name, 256, (seconds,), "s", kind)
        for name, seconds in ((names.NO_WORKERS, 21.0), (names.ENGINE, 7.0))
    ]
    if kind == "cuda":
        return made
    return [*made, skip(names.LENET, names.LIGHTNING, "needs PyTorch Lightning", kind)]


def conditions(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own conditions."""
    [two_devices] = {m.device_kind for m in made if m.experiment == names.WIDE}
    return {names.NOTES_WORKERS: NOTES_WORKERS, names.TWO_DEVICES: two_devices}
