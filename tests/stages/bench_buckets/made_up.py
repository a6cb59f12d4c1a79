"""Made-up results of bench_buckets: GPUs hide what the model says, a processor hides nothing."""

from lab.machine.devices import DeviceKind
from lab.results.measurements import Measurement
from stages.bench_buckets import __main__ as bench_buckets
from stages.bench_buckets.measure import names
from tests.made_up import one

COMPUTING_MS = 100.0
SUMS_MS = {25.0: 22.0, 100.0: 21.0}  # in two buckets and in one, which is full last
EXPOSED_MS = {25.0: 6.0, 100.0: 21.0}  # as the model has it
READY_MS = {"last.weight": (10.0, 12e6), "first.weight": (60.0, 4e6)}  # when, how many bytes


def measurements(kind: DeviceKind) -> list[Measurement]:
    """A step of 100 ms and its sums."""
    made = []
    for net in names.NETS:
        step = names.of_net(names.STEP, net)
        made.append(one(step, names.COMPUTING, COMPUTING_MS, kind))
        made += [
            one(names.of_net(names.READY, net), name, at, kind, size)
            for name, (at, size) in READY_MS.items()
        ]
        made.append(one(names.READY_BY_HALF, net, 75.0, kind, unit="%"))
        for count, (mib, sums) in zip((2.0, 1.0), SUMS_MS.items(), strict=True):
            predicted = {names.AT_ONCE: EXPOSED_MS[mib], names.AT_LAST: sums}
            exposed = {variant: ms if kind == "cuda" else sums for variant, ms in predicted.items()}
            made.append(one(step, names.SUMMING, sums, kind, mib))
            made += [
                one(step, variant, COMPUTING_MS + ms, kind, mib) for variant, ms in exposed.items()
            ]
            for experiment, of_variants in ((names.EXPOSED, exposed), (names.PREDICTED, predicted)):
                experiment_of_net = names.of_net(experiment, net)
                made += [
                    one(experiment_of_net, variant, ms, kind, mib)
                    for variant, ms in of_variants.items()
                ]
            made.append(one(names.of_net(names.BUCKETS, net), net, count, kind, mib, "buckets"))
    return made


def summary(made: list[Measurement]) -> dict[str, float | str]:
    """The stage's own metrics of what it measured, its conditions apart."""
    return bench_buckets.summarise(made)
