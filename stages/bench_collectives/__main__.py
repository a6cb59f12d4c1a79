"""Run the stage: `python -m stages.bench_collectives`."""

import itertools
import re
import sys
from collections.abc import Mapping, Sequence

import torch

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices, for_ranks, usable_cores
from lab.parallel import cost_model
from lab.parallel.allreduce_times import (
    Job,
    Timed,
    controls,
    gradient_lengths,
    noise_control,
    time_jobs,
)
from lab.parallel.collectives import ALGORITHMS, PROBES
from lab.parallel.cost_model import (
    FittedLink,
    Link,
    Path,
    allreduce_path,
    allreduce_s,
    fit_link,
    typical_errors,
)
from lab.parallel.replicas import allreduce
from lab.results.curves import key
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.results.stats import summarise as summary
from lab.timing import bench
from lab.timing.bench import A_AGAINST_A, in_unit, time_arms
from stages.bench_collectives.params import CollectiveParams, Params

PER_TENSOR, ONE_BUCKET = "per tensor", "one bucket"
WAYS = {PER_TENSOR: False, ONE_BUCKET: True}
ONE_PROCESS = "in one process"
MODELLED = [name for name in ALGORITHMS if name != "library"]
MEDIA = {"own links": False, "one shared link": True}


def jobs_of(
    p: CollectiveParams, demos: Mapping[int, str], aa_runs: int
) -> list[tuple[str, str, Job]]:
    """Return demo, arm and job of all that ranks time; nets, probes and controls with the fewest
    ranks.
    """
    few = min(demos)
    jobs = [
        (demo, name, Job(name, n, (num_bytes // 4,)))
        for n, demo in demos.items()
        for num_bytes in p.message_bytes
        for name in (*ALGORITHMS, *(PROBES if n == few else ()))
    ]
    for net in p.nets:
        lengths = gradient_lengths(net)
        for name, (way, one_bucket) in itertools.product(ALGORITHMS, WAYS.items()):
            jobs.append(
                (f"{net}, {few} ranks", f"{name}, {way}", Job(name, few, lengths, one_bucket))
            )
    return jobs + [(A_AGAINST_A, job.algorithm, job) for job in controls(few, aa_runs)]


def measure(params: Params, devices: Devices, cores: int) -> list[Measurement]:
    """Time all jobs, and the notes' sum in one process; say what this machine cannot."""
    p, kind, threads = params.bench_collectives, devices.kind, devices.threads
    world_sizes = sorted(n for n in p.world_sizes if n <= len(devices.devices))
    crowd = {
        n: f" sharing {cores} core(s)" if n > cores and kind != "cuda" else "" for n in world_sizes
    }
    demos = {n: f"{n} ranks{crowd[n]}" for n in world_sizes}
    measured = [
        m
        for net in p.nets
        for m in measure_in_one_process(net, world_sizes[0], params.bench, devices)
    ]
    jobs = jobs_of(p, demos, params.bench.aa_runs)
    found = time_jobs([job for _, _, job in jobs], p.rounds, params.bench.min_sample_ms, devices)
    for (demo, arm, job), timed in zip(jobs, found, strict=True):
        if demo != A_AGAINST_A:
            milliseconds = tuple(1e3 * t for t in timed.seconds)
            measured.append(
                Measurement(demo, arm, job.num_bytes, milliseconds, "ms", kind, threads)
            )
    measured += noise_control(found[-2 * params.bench.aa_runs :], devices)
    measured += what_was_sent([job for _, _, job in jobs], found, devices)
    if kind != "cuda":
        reason = f"needs {world_sizes[0]} CUDA GPUs, found {torch.cuda.device_count()}"
        return [*measured, skip("nccl", "all-reduce between GPUs", reason, kind)]
    return measured + [
        skip(f"{n} ranks", f"{n} ranks", f"needs {n} CUDA GPUs, found {len(devices.devices)}", kind)
        for n in sorted(set(p.world_sizes) - set(world_sizes))
    ]


def what_was_sent(
    jobs: Sequence[Job], found: Sequence[Timed], devices: Devices
) -> list[Measurement]:
    """Return for each algorithm and number of ranks whether all sums were exact, and what the
    busiest rank sent.

    Sent of the largest single tensor; the library's messages are not seen.
    """
    measured = []
    for name, n in dict.fromkeys(
        (job.algorithm, job.world_size) for job in jobs if job.algorithm in ALGORITHMS
    ):
        own = [
            (job, t)
            for job, t in zip(jobs, found, strict=True)
            if (job.algorithm, job.world_size) == (name, n)
        ]
        exact = float(all(timed.exact for _, timed in own))
        largest, timed = max(own, key=lambda pair: pair[0].num_bytes / len(pair[0].lengths))
        facts = {"exact": ("", exact)}
        if name in MODELLED:
            sent = {
                "sent": ("MB", timed.bytes_sent / 1e6),
                "messages": ("messages", float(timed.messages_sent)),
            }
            facts |= sent
        measured += [
            Measurement(
                f"{what}, {n} ranks",
                name,
                largest.num_bytes,
                (value,),
                unit,
                devices.kind,
                devices.threads,
            )
            for what, (unit, value) in facts.items()
        ]
    return measured


def measure_in_one_process(
    net: str, n: int, params: BenchParams, devices: Devices
) -> list[Measurement]:
    """Time the notes' sum of n replicas' gradients in one process, which needs no messages.

    Sums of sums soon leave the finite numbers; those are added as fast.
    """
    lengths = gradient_lengths(net)
    gradients = [
        [torch.rand(length).to(device) for device in devices.devices[:n]] for length in lengths
    ]

    def sum_each() -> None:
        for replicas in gradients:
            allreduce(replicas)

    times = time_arms({ONE_PROCESS: sum_each}, devices.devices[:n], params)
    count = Measurement("tensors", net, 4 * sum(lengths), (len(lengths),), "tensors", devices.kind)
    return [*in_unit(f"{net}, {n} ranks", 4 * sum(lengths), times, "ms", devices), count]


def summarise(measurements: Sequence[Measurement], seed: int) -> dict[str, float | str]:
    """Return the link and how well it fits and foretells, then what ways to sum cost against each
    other.
    """
    results = Results(measurements)
    numbered = {
        int(m.demo.split()[0]): m.demo
        for m in measurements
        if m.values and re.match(r"\d+ ranks", m.demo)
    }
    demos = dict(sorted(numbered.items()))
    few, many = min(demos), max(demos)
    exact = all(m.values == (1.0,) for m in measurements if m.demo.startswith("exact, "))
    metrics: dict[str, float | str] = {"fewest_ranks": few, "most_ranks": many}
    metrics["allreduce_exact"] = "yes" if exact else "no"
    link, shared, of_model = _model(results, demos, seed)
    metrics |= of_model
    for n, demo in demos.items():
        for name in ALGORITHMS:
            largest = results.series(demo, name)[-1]
            rates = [cost_model.bus_bandwidth(largest.x, n, t / 1e3) / 1e9 for t in largest.values]
            metrics |= bench.median_metrics(f"bus_{key(name)}_{n}_ranks_gb_per_s", rates)
    last = {name: results.series(demos[many], name)[-1] for name in ALGORITHMS}
    for name in ("ring", "library"):
        metrics |= bench.ratio_metrics(
            f"{name}_over_star_speedup", bench.speedup_of(last["star"], last[name])
        )
    for m in measurements:
        if m.demo.startswith(("sent, ", "messages, ")):
            what, _, ranks = m.demo.partition(", ")
            unit = "_mb" if what == "sent" else ""
            metrics[f"{what}_{key(m.arm)}_{key(ranks)}{unit}"] = round(m.values[0], 4)
    for net in dict.fromkeys(m.arm for m in measurements if m.demo == "tensors"):
        metrics |= _net_metrics(results, net, few, link, shared)
    return metrics


def _model(
    results: Results, demos: Mapping[int, str], seed: int
) -> tuple[Link, bool, dict[str, float | str]]:
    """Return the link told from the fewest ranks, whether it is shared, and metrics of both
    models.
    """
    few = min(demos)
    fits = {
        name: fit_link(
            [
                *_messages(results, demos[few], few, shared),
                *_probes(results, demos[few], few, shared),
            ],
            seed,
        )
        for name, shared in MEDIA.items()
    }
    chosen = min(fits, key=lambda name: typical_errors(fits[name].errors)[0])
    metrics: dict[str, float | str] = {"model": chosen, **_link_metrics(fits[chosen])}
    for name, fit in fits.items():
        errors = {"fit": fit.errors.tolist()}
        for n in sorted(set(demos) - {few}):
            unseen = _messages(results, demos[n], n, MEDIA[name])
            errors[f"{n}_ranks"] = [
                path.seconds(fit.link) / summary(t).median - 1 for path, t in unseen
            ]
        for what, found in errors.items():
            typical, largest = typical_errors(found)
            metrics[f"{key(name)}_{what}_error_percent"] = round(typical, 1)
            metrics[f"{key(name)}_{what}_error_percent_max"] = round(largest, 1)
    return fits[chosen].link, MEDIA[chosen], metrics


def _messages(results: Results, demo: str, n: int, shared: bool) -> list[tuple[Path, list[float]]]:
    """Return path and seconds of each all-reduce whose every rank has a number of its own to
    sum.
    """
    return [
        (allreduce_path(name, n, 1, m.x, shared), _seconds(m))
        for name in MODELLED
        for m in results.series(demo, name)
        if m.x >= 4 * n
    ]


def _probes(results: Results, demo: str, n: int, shared: bool) -> list[tuple[Path, list[float]]]:
    """Return path and seconds of messages to and fro, and of the largest addition, which each rank
    does.
    """
    added = results.series(demo, "adding")[-1]
    there_and_back = [
        (Path(2, 2 * m.x, 0), _seconds(m)) for m in results.series(demo, "there and back")
    ]
    return [*there_and_back, (Path(0, 0, added.x / 2 * (n if shared else 1)), _seconds(added))]


def _seconds(m: Measurement) -> list[float]:
    return [t / 1e3 for t in m.values]


def _link_metrics(fitted: FittedLink) -> dict[str, float | str]:
    """Return the link in us and GB/s; what costs nothing has no bound."""

    def rate(s_per_byte: float) -> float | str:
        return round(1e-9 / s_per_byte, 4) if s_per_byte > 0 else "unbounded"

    metrics: dict[str, float | str] = {}
    ends = {
        "": (fitted.link,) * 2,
        "_low": (fitted.low, fitted.high),
        "_high": (fitted.high, fitted.low),
    }
    # the most seconds per byte are the least bytes per second
    for end, (link, other) in ends.items():
        metrics[f"latency_us{end}"] = round(1e6 * link.alpha_s, 4)
        metrics[f"bandwidth_gb_per_s{end}"] = rate(other.s_per_byte)
        metrics[f"reduce_gb_per_s{end}"] = rate(other.add_s_per_byte)
    return metrics


def _net_metrics(
    results: Results, net: str, n: int, link: Link, shared: bool
) -> dict[str, float | str]:
    """Return what one bucket gains for a net's gradients, measured and as the model has it, and the
    times.
    """
    demo, tensors = f"{net}, {n} ranks", results.one("tensors", net)
    found = {arm: m for arm in results.arms(demo) if (m := results.one(demo, arm))}
    metrics: dict[str, float | str] = {}
    for name, prefix in (("star", ""), ("library", "library_")):
        old, new = found[f"{name}, {PER_TENSOR}"], found[f"{name}, {ONE_BUCKET}"]
        metrics |= bench.ratio_metrics(f"{net}_{prefix}bucket_speedup", bench.speedup_of(old, new))
        for way, m in ((PER_TENSOR, old), (ONE_BUCKET, new)):
            metrics |= bench.median_metrics(f"{net}_{name}_{key(way)}_ms", m.values)
    if tensors:
        each, joined = (
            allreduce_s("star", n, p, tensors.x, link, shared) for p in (int(tensors.values[0]), 1)
        )
        metrics[f"{net}_bucket_speedup_predicted"] = round(each / joined, 4)
    return metrics | bench.median_metrics(f"{net}_{key(ONE_PROCESS)}_ms", found[ONE_PROCESS].values)


def main() -> None:
    """Measure and write rows and metrics."""
    params = load(Params)
    cores = usable_cores()
    watch, devices = bench.Watch(), for_ranks(params.bench_collectives.world_sizes, params.devices)
    measured = measure(params, devices, cores)
    write_rows(REPORTS / "bench_collectives", rows_of(measured))
    head = {**bench.conditions(measured, devices, watch), "cores": cores}
    write_metrics(REPORTS / "bench_collectives", head | summarise(measured, params.seed))


if __name__ == "__main__":
    sys.exit(run(main))
