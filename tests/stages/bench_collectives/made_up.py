"""Made-up results of bench_collectives, as a CPU or a GPU would leave them."""

from lab.machine.devices import DeviceKind
from lab.parallel.cost_model import (
    ADDING,
    ALGORITHMS,
    LIBRARY,
    MODELLED,
    PER_TENSOR,
    RING,
    THERE_AND_BACK,
    allreduce_name,
    allreduce_path,
    allreduce_s,
    bytes_sent,
)
from lab.results.measurements import Measurement, skip
from stages.bench_collectives import __main__ as bench_collectives
from stages.bench_collectives.measure import names
from stages.bench_collectives.measure.among_ranks import SUMS
from tests.made_up import LINK, one

SIZES = (4, 4e3, 4e6)
NETS = {"lenet": (8, 516_272), "resnet18": (76, 44_703_272)}  # tensors and bytes


def measurements(kind: DeviceKind) -> list[Measurement]:
    """Times just as the model has them: links of their own between GPUs, one for all on a CPU."""
    shared = kind != "cuda"

    def ms(algorithm: str, n: int, tensors: int, size: float) -> float:
        as_if = RING if algorithm == LIBRARY else algorithm
        return 1e3 * allreduce_s(as_if, n, tensors, size, LINK, shared)

    made = []
    for n, cores in ((2, 0), (4, 2 if shared else 0)):
        for name in ALGORITHMS:
            experiment = names.of_one_message(n, cores)
            made += [one(experiment, name, ms(name, n, 1, size), kind, size) for size in SIZES]
            facts = {names.EXACT: 1.0}
            if name in MODELLED:
                facts[names.SENT] = bytes_sent(name, n, 4e6) / 1e6
                facts[names.MESSAGES] = allreduce_path(name, n, 1, 4e6).messages
            made += [
                Measurement(names.of_ranks(what, n), name, 4e6, (value,), "", kind)
                for what, value in facts.items()
            ]
    few = names.of_one_message(2)
    for size in SIZES:
        both_ways = 2 * LINK.alpha_s + 2 * size * LINK.s_per_byte
        added = size / 2 * (2 if shared else 1)
        made.append(one(few, THERE_AND_BACK, 1e3 * both_ways, kind, size))
        made.append(one(few, ADDING, 1e3 * added * LINK.add_s_per_byte, kind, size))
    for net, (tensors, size) in NETS.items():
        experiment = names.of_ranks(net, 2)
        for name, grouping in SUMS:
            time = ms(name, 2, tensors if grouping == PER_TENSOR else 1, size)
            made.append(one(experiment, allreduce_name(name, grouping), time, kind, size))
        made.append(Measurement(names.TENSORS, net, size, (tensors,), "tensors", kind))
    skipped = skip(names.NCCL, names.BETWEEN_GPUS, "needs 2 CUDA GPUs, found 0", kind)
    return made if kind == "cuda" else [*made, skipped]


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    return bench_collectives.summarise(made)
