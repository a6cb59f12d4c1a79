"""Made-up results of bench_training, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from stages.bench_training import __main__ as bench_training
from stages.bench_training import names
from tests.made_up import one

PRODUCTS_PER_STEP = {names.LENET: 1.6, names.RESNET18: 41}


def measurements(kind: DeviceKind) -> list[Measurement]:
    lenet = {
        names.FOUR_WORKERS: 100.0,
        names.NO_WORKERS: 90.0,
        names.ENGINE: 30.0,
        names.BF16: 20.0,
        names.ONE_WORKER: 60.0,
        names.TWO_WORKERS: 40.0,
    }
    if kind == "cuda":
        lenet |= {names.COMPILED: 15.0, names.TF32: 25.0}
    resnet = {names.NO_WORKERS: 900.0, names.ENGINE: 800.0, names.BF16: 400.0}
    steps = [one(names.LENET, name, ms, kind, 256) for name, ms in lenet.items()]
    steps += [one(names.RESNET18, name, ms, kind, 32) for name, ms in resnet.items()]
    products = [one(net, names.PRODUCT, 10.0, kind, x) for net, x in PRODUCTS_PER_STEP.items()]
    return steps + products


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    return bench_training.summarise(made)
