"""All-reduces among ranks: of single messages, and of nets' gradients; how long, how right."""

import itertools
from collections.abc import Mapping, Sequence

from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices
from lab.parallel.allreduce_times import (
    Arm,
    Timed,
    controls,
    gradient_lengths,
    noise_control,
    time_among_ranks,
)
from lab.parallel.cost_model import (
    ALGORITHMS,
    GROUPINGS,
    MODELLED,
    ONE_BUCKET,
    PROBES,
    allreduce_name,
)
from lab.results.measurements import Measurement
from stages.bench_collectives import names
from stages.bench_collectives.params import CollectiveParams

Named = tuple[str, str, Arm]  # demo, name, arm


def measure_among_ranks(
    p: CollectiveParams,
    bench: BenchParams,
    world_sizes: Sequence[int],
    devices: Devices,
    cores: int,
) -> list[Measurement]:
    """Time all arms, and a noise control among them; say whether the sums were right."""
    crowded = {n: cores if n > cores and devices.kind != "cuda" else 0 for n in world_sizes}
    demos = {n: names.of_one_message(n, crowded[n]) for n in world_sizes}
    arms = arms_of(p, demos)
    pairs = controls(min(demos), bench.aa_runs)
    timed_arms = [*(arm for *_, arm in arms), *pairs]
    found = time_among_ranks(timed_arms, p.rounds, bench.min_sample_ms, devices)
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
        for (demo, name, arm), timed in zip(arms, found[: len(arms)], strict=True)
    ]
    return [
        *times,
        *noise_control(found[len(arms) :], devices),
        *facts_of(list(zip(timed_arms, found, strict=True)), devices),
    ]


def arms_of(p: CollectiveParams, demos: Mapping[int, str]) -> list[Named]:
    """All arms with their demos and names; nets and probes with the fewest ranks alone."""
    few = min(demos)
    arms: list[Named] = [
        (demo, name, Arm(name, n, (num_bytes // 4,)))
        for n, demo in demos.items()
        for num_bytes in p.message_bytes
        for name in (*ALGORITHMS, *(PROBES if n == few else ()))
    ]
    for net in p.nets:
        lengths = gradient_lengths(net)
        for algorithm, grouping in itertools.product(ALGORITHMS, GROUPINGS):
            arm = Arm(algorithm, few, lengths, one_bucket=grouping == ONE_BUCKET)
            arms.append((names.of_ranks(net, few), allreduce_name(algorithm, grouping), arm))
    return arms


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
