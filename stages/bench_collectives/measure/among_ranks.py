"""All-reduces among ranks: of single messages, and of nets' gradients; how long, how right."""

from collections.abc import Mapping, Sequence

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.parallel.allreduce.times import Timed, Variant, gradient_lengths, time_among_ranks
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
Named = tuple[str, str, Variant]  # experiment, name, variant


def measure_among_ranks(
    p: CollectiveParams,
    bench: BenchParams,
    world_sizes: Sequence[int],
    devices: Devices,
    cores: int,
) -> list[Measurement]:
    """Time all variants in turn, a noise control among them; say whether the sums were right."""
    crowded = {n: cores if n > cores and devices.kind != "cuda" else 0 for n in world_sizes}
    variants = variants_of(p, {n: names.of_one_message(n, crowded[n]) for n in world_sizes})
    timed_variants = [variant for *_, variant in variants]
    found = time_among_ranks(timed_variants, bench, devices)
    times = [
        Measurement(
            experiment,
            name,
            variant.num_bytes,
            tuple(1e3 * t for t in timed.seconds),
            "ms",
            devices.kind,
            devices.threads,
        )
        for (experiment, name, variant), timed in zip(variants, found, strict=True)
    ]
    facts = facts_of(list(zip(timed_variants, found, strict=True)), devices)
    return [*times, *facts, *(tensors_of(net, devices) for net in p.nets)]


def variants_of(p: CollectiveParams, experiments: Mapping[int, str]) -> list[Named]:
    """All variants with their experiments and names; nets and probes with the fewest ranks alone.

    The notes' way to sum the first net's gradients takes part twice, as the noise control.
    """
    few, largest = min(experiments), max(p.message_bytes)
    variants: list[Named] = [
        (experiment, name, Variant(name, n, (num_bytes // 4,)))
        for n, experiment in experiments.items()
        for num_bytes in p.message_bytes
        for name in (*ALGORITHMS, *((THERE_AND_BACK,) if n == few else ()))
    ]
    variants.append((experiments[few], ADDING, Variant(ADDING, few, (largest // 4,))))
    for net in p.nets:
        lengths = gradient_lengths(net)
        for algorithm, grouping in SUMS:
            variant = Variant(algorithm, few, lengths, one_bucket=grouping == ONE_BUCKET)
            variants.append(
                (names.of_ranks(net, few), allreduce_name(algorithm, grouping), variant)
            )
    control = Variant(STAR, few, gradient_lengths(p.nets[0]))
    name = again(allreduce_name(STAR, PER_TENSOR))
    return [*variants, (names.of_ranks(p.nets[0], few), name, control)]


def tensors_of(net: str, devices: Devices) -> Measurement:
    """How many tensors and bytes a net's gradients are."""
    lengths = gradient_lengths(net)
    count = float(len(lengths))
    return Measurement(names.TENSORS, net, 4 * sum(lengths), (count,), "tensors", devices.kind)


def facts_of(sums: Sequence[tuple[Variant, Timed]], devices: Devices) -> list[Measurement]:
    """For each algorithm and number of ranks: whether all sums were exact, and what was sent.

    That is what the busiest rank sent of the largest single tensor; the library's messages are not
    seen.
    """
    groups: dict[tuple[str, int], list[tuple[Variant, Timed]]] = {}
    for variant, timed in sums:
        if variant.algorithm in ALGORITHMS:
            groups.setdefault((variant.algorithm, variant.world_size), []).append((variant, timed))
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
