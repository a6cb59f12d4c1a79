"""Made-up results of bench_training, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from stages.bench_training import __main__ as bench_training
from tests.made_up import one


def measurements(kind: DeviceKind) -> list[Measurement]:
    times = {
        bench_training.WORKERS: 100.0,
        bench_training.NO_WORKERS: 90.0,
        bench_training.ENGINE: 30.0,
        bench_training.BF16: 20.0,
        bench_training.ONE: 60.0,
        bench_training.PEAK: 10.0,
    }
    if kind == "cuda":
        times |= {bench_training.COMPILED: 15.0, bench_training.TF32: 25.0}
    else:
        times[bench_training.TWO] = 40.0
    resnet = {
        bench_training.NO_WORKERS: 900.0,
        bench_training.ENGINE: 800.0,
        bench_training.BF16: 400.0,
        bench_training.PEAK: 10.0,
    }
    made = [one("lenet", name, t, kind, 256) for name, t in times.items()]
    return made + [one("resnet18", name, t, kind, 32) for name, t in resnet.items()]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured, its conditions apart."""
    return bench_training.summarise(made, 1024)
