"""Made-up results of bench_collectives, as a CPU or a GPU would leave them."""

from dataclasses import replace

from lab.core.files import Metrics
from lab.machine.devices import DeviceKind
from lab.parallel.cost_model import (
    ADDING,
    ALGORITHMS,
    LIBRARY,
    MODELLED,
    PER_TENSOR,
    RING,
    THERE_AND_BACK,
    allreduce_path,
    allreduce_s,
    bytes_sent,
)
from lab.results.measurements import Measurement
from stages.bench_collectives.measure.all_reduces import SUMS
from tests.made_up import LINK, one

SIZES = (4, 4e3, 4e6)
NETS = {"lenet": (8, 516_272), "resnet18": (76, 44_703_272)}  # tensors and bytes


def measurements(kind: DeviceKind) -> list[Measurement]:
    """Times just as the model has them: links of their own between GPUs, one for all on a CPU."""
    shared = kind != "cuda"

    def ms(algorithm: str, n: int, tensors: int, size: float) -> float:
        as_if = RING if algorithm == LIBRARY else algorithm
        return 1e3 * allreduce_s(as_if, n, tensors, size, LINK, shared)

    def timed(experiment: str, variant: str, ms: float, size: float, **columns) -> Measurement:
        return replace(one(experiment, variant, ms, kind, size), columns=columns)

    made = []
    for n, cores in ((2, {}), (4, {"cores": 2} if shared else {})):
        for name in ALGORITHMS:
            made += [
                timed("message", name, ms(name, n, 1, size), size, ranks=n, **cores)
                for size in SIZES
            ]
            facts = {"exact": 1.0}
            if name in MODELLED:
                facts["sent"] = bytes_sent(name, n, 4e6) / 1e6
                facts["messages"] = allreduce_path(name, n, 1, 4e6).messages
            made += [
                Measurement(experiment, name, 4e6, (value,), "", kind, columns={"ranks": n})
                for experiment, value in facts.items()
            ]
    for size in SIZES:
        both_ways = 2 * LINK.alpha_s + 2 * size * LINK.s_per_byte
        added = size / 2 * (2 if shared else 1)
        made.append(timed("message", THERE_AND_BACK, 1e3 * both_ways, size, ranks=2))
        made.append(timed("message", ADDING, 1e3 * added * LINK.add_s_per_byte, size, ranks=2))
    for net, (tensors, size) in NETS.items():
        for name, grouping in SUMS:
            time = ms(name, 2, tensors if grouping == PER_TENSOR else 1, size)
            where = {"ranks": 2, "net": net, "grouping": grouping}
            made.append(timed("gradients", name, time, size, **where))
        made.append(Measurement("tensors", net, size, (tensors,), "tensors", kind))
    return made


def conditions(made: list[Measurement]) -> Metrics:
    """The stage's own conditions."""
    return {"cores": 2}
