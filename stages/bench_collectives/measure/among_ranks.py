"""All-reduces among ranks: of single messages, and of nets' gradients; how long, how right."""

from collections.abc import Mapping, Sequence

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.parallel.allreduce.times import Arm, Timed, gradient_lengths, time_among_ranks
from lab.parallel.cost_model import (
    ADDING,
    ALGORITHMS,
    LIBRARY,
    MODELLED,
    ONE_BUCKET,
    PER_TENSOR,
    RING,
    STAR,
    THERE_AND_BACK,
    allreduce_name,
)
from lab.results.measurements import Measurement, again
from stages.bench_collectives.measure import names
from stages.bench_collectives.measure.params import CollectiveParams

# of nets' gradients: the notes' way first
SUMS = (
    (STAR, PER_TENSOR),
    (STAR, ONE_BUCKET),
    (RING, ONE_BUCKET),
    (LIBRARY, PER_TENSOR),
    (LIBRARY, ONE_BUCKET),
)
Named = tuple[str, str, Arm]  # demo, name, arm


def measure_among_ranks(
    p: CollectiveParams,
    bench: BenchParams,
    world_sizes: Sequence[int],
    devices: Devices,
    cores: int,
) -> list[Measurement]:
    """Time all arms in turn, a noise control among them; say whether the sums were right."""
    crowded = {n: cores if n > cores and devices.kind != "cuda" else 0 for n in world_sizes}
    arms = arms_of(p, {n: names.of_one_message(n, crowded[n]) for n in world_sizes})
    timed_arms = [arm for *_, arm in arms]
    found = time_among_ranks(timed_arms, bench, devices)
    times = [
        Measurement(
            demo,
            name,
            arm.num_bytes,
            tuple(1e3 * t for t in timed.seconds),
            "ms",
            devices.kind,
            devices.threads,
        )
        for (demo, name, arm), timed in zip(arms, found, strict=True)
    ]
    facts = facts_of(list(zip(timed_arms, found, strict=True)), devices)
    return [*times, *facts, *(tensors_of(net, devices) for net in p.nets)]


def arms_of(p: CollectiveParams, demos: Mapping[int, str]) -> list[Named]:
    """All arms with their demos and names; nets and probes with the fewest ranks alone.

    The notes' way to sum the first net's gradients takes part twice, as the noise control.
    """
    few, largest = min(demos), max(p.message_bytes)
    arms: list[Named] = [
        (demo, name, Arm(name, n, (num_bytes // 4,)))
        for n, demo in demos.items()
        for num_bytes in p.message_bytes
        for name in (*ALGORITHMS, *((THERE_AND_BACK,) if n == few else ()))
    ]
    arms.append((demos[few], ADDING, Arm(ADDING, few, (largest // 4,))))
    for net in p.nets:
        lengths = gradient_lengths(net)
        for algorithm, grouping in SUMS:
            arm = Arm(algorithm, few, lengths, one_bucket=grouping == ONE_BUCKET)
            arms.append((names.of_ranks(net, few), allreduce_name(algorithm, grouping), arm))
    control = Arm(STAR, few, gradient_lengths(p.nets[0]))
    name = again(allreduce_name(STAR, PER_TENSOR))
    return [*arms, (names.of_ranks(p.nets[0], few), name, control)]


def tensors_of(net: str, devices: Devices) -> Measurement:
    """How many tensors and bytes a net's gradients are."""
    lengths = gradient_lengths(net)
    count = float(len(lengths))
    return Measurement(names.TENSORS, net, 4 * sum(lengths), (count,), "tensors", devices.kind)


def facts_of(sums: Sequence[tuple[Arm, Timed]], devices: Devices) -> list[Measurement]:
    """For each algorithm and number of ranks: whether all sums were exact, and what was sent.

    That is what the busiest rank sent of the largest single tensor; the library's messages are not
    seen.
    """
    groups: dict[tuple[str, int], list[tuple[Arm, Timed]]] = {}
    for arm, timed in sums:
        if arm.algorithm in ALGORITHMS:
            groups.setdefault((arm.algorithm, arm.world_size), []).append((arm, timed))
    measured = []
    for (algorithm, n), same in groups.items():
        largest, timed = max(same, key=lambda pair: pair[0].num_bytes / len(pair[0].lengths))
        facts = [(names.EXACT, float(all(one.exact for _, one in same)), "")]
        if algorithm in MODELLED:
            facts.append((names.SENT, timed.bytes_sent / 1e6, "MB"))
            facts.append((names.MESSAGES, float(timed.messages_sent), "messages"))
        measured += [
            Measurement(
                names.of_ranks(what, n),
                algorithm,
                largest.num_bytes,
                (value,),
                unit,
                devices.kind,
                devices.threads,
            )
            for what, value, unit in facts
        ]
    return measured
