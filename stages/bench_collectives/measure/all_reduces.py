"""All-reduces among ranks: of single messages, and of nets' gradients; how long, how right."""

from collections.abc import Sequence
from dataclasses import replace

from lab.machine.devices import Devices
from lab.parallel.allreduce.times import FirstCall, LocalRank, Variant, gradient_lengths
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
)
from lab.parallel.local_ranks import own_device, time_in_turns
from lab.results.measurements import Measurement, again, skip
from lab.results.reasons import NEEDS_GPUS, Reason
from stages.bench_collectives.measure.params import CollectiveParams, Params

# of nets' gradients: the notes' way first
SUMS = (
    (STAR, PER_TENSOR),
    (STAR, ONE_BUCKET),
    (RING, ONE_BUCKET),
    (LIBRARY, PER_TENSOR),
    (LIBRARY, ONE_BUCKET),
)
Columns = dict[str, int | str]
Planned = tuple[Measurement, Variant]  # a measurement that lacks its samples, and what is timed


def measure(process: int, params: Params, devices: Devices, cores: int) -> list[Measurement]:
    """Time all variants in turn, in each rank; say what the first calls sent, and how exactly."""
    p, device = params.bench_collectives, own_device(devices)
    planned = planned_of(p, feasible(p, devices), devices, cores)
    here = LocalRank(device, [variant.world_size for _, variant in planned])
    timed = [here.timed(variant) for _, variant in planned]
    seconds = time_in_turns(dict(enumerate(timed)), params.bench, process, device)
    times = [
        replace(m, values=tuple(1e3 * t for t in seconds[i])) for i, (m, _) in enumerate(planned)
    ]
    first_calls = [(v, call.first) for (_, v), call in zip(planned, timed, strict=True)]
    return [*times, *facts_of(first_calls, devices)]


def feasible(p: CollectiveParams, devices: Devices) -> list[int]:
    """The numbers of ranks for which there are devices, growing."""
    return sorted(n for n in p.world_sizes if n <= len(devices.devices))


def planned_of(
    p: CollectiveParams, world_sizes: Sequence[int], devices: Devices, cores: int
) -> list[Planned]:
    """All variants; nets and probes with the fewest ranks alone.

    Where ranks share fewer cores, their number is a column. The notes' way to sum the first net's
    gradients takes part twice, as the noise control.
    """
    few = min(world_sizes)

    def message(variant: Variant) -> Planned:
        n = variant.world_size
        crowded = n > cores and devices.kind != "cuda"
        columns: Columns = {"ranks": n, **({"cores": cores} if crowded else {})}
        return _blank("message", variant.algorithm, variant, devices, columns), variant

    def gradients(net: str, algorithm: str, grouping: str) -> Planned:
        variant = Variant(algorithm, few, gradient_lengths(net), grouping == ONE_BUCKET)
        columns: Columns = {"ranks": few, "net": net, "grouping": grouping}
        return _blank("gradients", algorithm, variant, devices, columns), variant

    planned = [
        message(Variant(name, n, (num_bytes // 4,)))
        for n in world_sizes
        for num_bytes in p.message_bytes
        for name in ALGORITHMS
    ]
    # a single number there and back shows what a message costs
    probes = [(THERE_AND_BACK, num_bytes) for num_bytes in sorted({4, *p.message_bytes})]
    probes.append((ADDING, max(p.message_bytes)))
    planned += [message(Variant(name, few, (num_bytes // 4,))) for name, num_bytes in probes]
    planned += [gradients(net, *way) for net in p.nets for way in SUMS]
    by_notes, variant = gradients(p.nets[0], STAR, PER_TENSOR)
    return [*planned, (replace(by_notes, variant=again(STAR)), variant)]


def _blank(
    experiment: str, name: str, variant: Variant, devices: Devices, columns: Columns
) -> Measurement:
    on = devices.kind, devices.threads
    return Measurement(experiment, name, variant.num_bytes, (), "ms", *on, columns=columns)


def facts_of(
    first_calls: Sequence[tuple[Variant, FirstCall]], devices: Devices
) -> list[Measurement]:
    """For each algorithm and number of ranks: whether all sums were exact, and what was sent.

    That is what the busiest rank sent of the largest single tensor; the library's messages are not
    seen.
    """
    groups: dict[tuple[str, int], list[tuple[Variant, FirstCall]]] = {}
    for variant, first in first_calls:
        if variant.algorithm in ALGORITHMS:
            groups.setdefault((variant.algorithm, variant.world_size), []).append((variant, first))
    measured = []
    for (algorithm, n), same in groups.items():
        largest, first = max(same, key=lambda pair: pair[0].num_bytes / len(pair[0].lengths))
        facts = [("exact", float(all(one.exact for _, one in same)), "")]
        if algorithm in MODELLED:
            facts.append(("sent", first.bytes_sent / 1e6, "MB"))
            facts.append(("messages", float(first.messages_sent), "messages"))
        measured += [
            replace(
                _blank(experiment, algorithm, largest, devices, {"ranks": n}),
                values=(value,),
                unit=unit,
            )
            for experiment, value, unit in facts
        ]
    return measured


def measure_once(p: CollectiveParams, devices: Devices) -> list[Measurement]:
    """How many tensors and bytes nets' gradients are; what this machine cannot measure."""
    lengths = {net: gradient_lengths(net) for net in p.nets}
    counts = [
        Measurement("tensors", net, 4 * sum(each), (len(each),), "tensors", devices.kind)
        for net, each in lengths.items()
    ]
    if devices.kind != "cuda":
        return counts
    lacking = sorted(set(p.world_sizes) - set(feasible(p, devices)))
    reasons = {n: Reason(NEEDS_GPUS, str(n)) for n in lacking}
    return [
        *counts,
        *(skip("message", f"{n} ranks", why, devices.kind) for n, why in reasons.items()),
    ]
