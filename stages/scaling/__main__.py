"""Run the stage: `python -m stages.scaling`."""

import itertools
import sys
from collections.abc import Sequence
from statistics import median

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.machine.devices import Devices, for_ranks
from lab.parallel.allreduce_times import (
    NOTHING,
    Job,
    controls,
    gradient_lengths,
    noise_control,
    time_jobs,
)
from lab.parallel.cost_model import (
    INTERCONNECTS,
    Path,
    allreduce_path,
    crossing_batch,
    fit_link,
    step_bounds,
    typical_errors,
)
from lab.results.curves import key
from lab.results.measurements import Measurement, Results, Row, rows_of
from lab.timing import bench
from stages.scaling.params import NetParams, Params, ScalingParams
from stages.scaling.predictor import Machine, Network, fit_compute, strong_scaling, weak_scaling

WAYS = {
    "star, per tensor": ("star", False),
    "star, one bucket": ("star", True),
    "ring, one bucket": ("ring", True),
    "halving-doubling, one bucket": ("halving-doubling", True),
}
MESSAGES = ("star", "ring", "tree", "halving-doubling")
ALONE, MESSAGE, JOINING = "without communication", "message", "joining"
AFTER = "message after computing"
FORETOLD, MEASURED = "foretold", "measured"
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
STRONG_BATCH, WEAK_IMAGES = 8192, 256
SIMULATED = "simulated"
Parts = list[tuple[Path, tuple[float, ...]]]


def calibrate(p: ScalingParams, devices: Devices) -> list[Measurement]:
    """Measure what a step is made of: computing without communication, messages, adding, joining a
    bucket.
    """
    n = p.world_size
    messages = [
        Job(name, n, (size // 4,))
        for size in p.message_bytes
        for name in (*MESSAGES, "there and back")
    ]
    jobs = [(MESSAGE, job.algorithm, job.num_bytes, job) for job in messages]
    largest = Job("adding", n, (max(p.message_bytes) // 4,))
    jobs.append((MESSAGE, largest.algorithm, largest.num_bytes, largest))
    for name, size in itertools.product(MESSAGES, sorted(p.message_bytes)[:3]):
        after = Job(name, n, (size // 4,), net="lenet", images=middle(p.lenet), gradients=False)
        jobs.append((AFTER, name, size, after))
    for net, of_net in p.nets.items():
        lengths = gradient_lengths(net)
        jobs.append((JOINING, net, len(lengths), Job(NOTHING, n, lengths, one_bucket=True)))
        for images in of_net.calibration_images:
            jobs.append((ALONE, net, images, Job(NOTHING, n, lengths, net=net, images=images)))
    found = time_jobs([job for *_, job in jobs], p.rounds, p.min_sample_ms, devices)
    return [
        Measurement(
            demo, arm, x, tuple(1e3 * t for t in timed.seconds), "ms", devices.kind, devices.threads
        )
        for (demo, arm, x, _), timed in zip(jobs, found, strict=True)
    ]


def middle(params: NetParams) -> int:
    """Return the images of a computation of middling length."""
    images = sorted(params.calibration_images)
    return images[len(images) // 2]


def machines(
    measurements: Sequence[Measurement], n: int, seed: int
) -> dict[str, tuple[Machine, Network]]:
    """Return, for each net, the machine that the parts tell of, and what the net communicates.

    The link is reckoned as the ranks' own or as shared by all, whichever fits its messages better.
    """
    results = Results(measurements)
    fits = {}
    for shared in (False, True):
        parts = [
            (_path(m, n, shared), tuple(t / 1e3 for t in m.values))
            for m in measurements
            if m.demo == MESSAGE
        ]
        fits[shared] = fit_link(parts, seed)
    shared = min(fits, key=lambda s: typical_errors(fits[s].errors)[0])
    found = {}
    for net in results.arms(ALONE):
        alone = {int(m.x): m.summary.median / 1e3 for m in results.series(ALONE, net)}
        [joining] = results.series(JOINING, net)
        lengths = gradient_lengths(net)
        network = Network(len(lengths), 4 * sum(lengths), joining.summary.median / 1e3)
        found[net] = (
            Machine(fit_compute(alone), fits[shared].link, shared, _waits(results)),
            network,
        )
    return found


def _waits(results: Results) -> dict[str, float]:
    """Return by how many seconds each algorithm's message is late after a computation of middling
    length.
    """
    times = results.series(ALONE, "lenet")
    alone = times[len(times) // 2].summary.median
    waits = {}
    for name in results.arms(AFTER):
        late = [
            m.summary.median - alone - one.summary.median
            for m in results.series(AFTER, name)
            if (one := results.one(MESSAGE, name, m.x))
        ]
        waits[name] = max(0.0, median(late)) / 1e3
    return waits


def _path(m: Measurement, n: int, shared: bool) -> Path:
    if m.arm == "there and back":
        return Path(2, 2 * m.x, 0)
    if m.arm == "adding":  # half of the tensor to the other, in each rank
        return Path(0, 0, m.x / 2 * (n if shared else 1))
    return allreduce_path(m.arm, n, 1, m.x, shared)


def foretell(p: ScalingParams, found: dict[str, tuple[Machine, Network]]) -> list[Row]:
    """Return one row for each step that is to be measured: its parts and its time, in
    milliseconds.
    """
    rows: list[Row] = []
    for net, of_net in p.nets.items():
        machine, network = found[net]
        for images, (way, (algorithm, one_bucket)) in itertools.product(
            of_net.heldout_images, WAYS.items()
        ):
            t1, t2 = machine.parts(network, algorithm, one_bucket, p.world_size, images)
            longer, total = step_bounds(t1, t2)
            rows.append(
                {
                    "net": net,
                    "way": way,
                    "world_size": p.world_size,
                    "images_per_device": images,
                    "t1_ms": round(1e3 * t1, 4),
                    "t2_ms": round(1e3 * t2, 4),
                    "max_ms": round(1e3 * longer, 4),
                    "foretold_ms": round(1e3 * total, 4),
                }
            )
    return rows


def measure_steps(
    rows: Sequence[Row], p: ScalingParams, devices: Devices, aa_runs: int
) -> list[Measurement]:
    """Measure the steps of `rows`, put beside each what was foretold, and compare a message with
    itself.
    """
    jobs = []
    for row in rows:
        algorithm, one_bucket = WAYS[str(row["way"])]
        net, n, images = str(row["net"]), int(row["world_size"]), int(row["images_per_device"])
        jobs.append(Job(algorithm, n, gradient_lengths(net), one_bucket, net, images))
    jobs += controls(p.world_size, aa_runs)
    found = time_jobs(jobs, p.rounds, p.min_sample_ms, devices)
    measured = noise_control(found[len(rows) :], devices)
    for row, timed in zip(rows, found, strict=False):
        arm, x = f"{row['net']}, {row['way']}", float(row["images_per_device"])
        values = {
            MEASURED: tuple(1e3 * t for t in timed.seconds),
            FORETOLD: (float(row["foretold_ms"]),),
            "t1": (float(row["t1_ms"]),),
            "t2": (float(row["t2_ms"]),),
        }
        measured += [
            Measurement(demo, arm, x, samples, "ms", devices.kind, devices.threads)
            for demo, samples in values.items()
        ]
        exact = Measurement(
            "same weights", arm, x, (float(timed.exact),), "", devices.kind, devices.threads
        )
        measured.append(exact)
    return measured


def simulate(found: dict[str, tuple[Machine, Network]]) -> list[Measurement]:
    """Return what up to 1024 devices as fast as this one would gain on published interconnects.

    Strong: times as fast at one batch over all. Weak: share of the ideal speed with one batch on
        each.
    """
    told = []
    for (net, (machine, network)), one in itertools.product(found.items(), INTERCONNECTS):
        there = Machine(machine.compute, one.link)
        for demo, values in (
            ("strong", strong_scaling(there, network, STRONG_BATCH, COUNTS)),
            ("weak", weak_scaling(there, network, WEAK_IMAGES, COUNTS)),
        ):
            told += [
                Measurement(f"{demo}, {net}", one.name, n, (value,), "x", SIMULATED)
                for n, value in zip(COUNTS, values, strict=True)
            ]
    return told


def summarise(
    measurements: Sequence[Measurement], found: dict[str, tuple[Machine, Network]], n: int
) -> dict[str, float | str]:
    """Return how far the foretold steps are off, what they were told from, and where t1 and t2
    cross.
    """
    results = Results(measurements)
    errors, of_max = [], []
    for arm in results.arms(MEASURED):
        for m in results.series(MEASURED, arm):
            t1, t2 = (
                one.values[0] for demo in ("t1", "t2") if (one := results.one(demo, arm, m.x))
            )
            longer, total = step_bounds(t1, t2)
            errors.append(total / m.summary.median - 1)
            of_max.append(longer / m.summary.median - 1)
    metrics: dict[str, float | str] = {"world_size": n, "heldout_configurations": len(errors)}
    for prefix, found_errors in (("", errors), ("max_rule_", of_max)):
        sizes = [100 * abs(error) for error in found_errors]
        metrics[f"{prefix}mean_error_percent"] = round(sum(sizes) / len(sizes), 3)
        metrics[f"{prefix}max_error_percent"] = round(max(sizes), 3)
    same = all(m.values == (1.0,) for m in measurements if m.demo == "same weights")
    metrics["replicas_stay_equal"] = "yes" if same else "no"
    for net, (machine, network) in found.items():
        metrics["link"] = "shared by all ranks" if machine.shared else "each rank's own"
        metrics["latency_us"] = round(1e6 * machine.link.alpha_s, 4)
        metrics |= {
            f"{key(name)}_wait_ms": round(1e3 * late, 4) for name, late in machine.waits.items()
        }
        metrics[f"{net}_fixed_ms"] = round(1e3 * machine.compute.fixed_s, 4)
        metrics[f"{net}_us_per_image"] = round(1e6 * machine.compute.per_image_s, 4)
        for way, (algorithm, one_bucket) in WAYS.items():
            _, t2 = machine.parts(network, algorithm, one_bucket, n, 1)
            crossing = crossing_batch(machine.compute.fixed_s, machine.compute.per_image_s, t2, n)
            metrics[f"{net}_{key(way)}_t2_ms"] = round(1e3 * t2, 4)
            metrics[f"{net}_{key(way)}_crossing_batch"] = round(crossing, 2)
    return metrics


def main() -> None:
    """Measure the parts, foretell the steps, write that down, measure them, and write rows and
    metrics.
    """
    params = load(Params)
    p = params.scaling
    watch, devices = bench.Watch(), for_ranks([p.world_size], params.devices)
    parts = calibrate(p, devices)
    found = machines(parts, p.world_size, params.seed)
    rows = foretell(p, found)
    write_rows(REPORTS / "scaling", rows, "predictions.csv")
    measured = [*parts, *measure_steps(rows, p, devices, params.bench.aa_runs), *simulate(found)]
    write_rows(REPORTS / "scaling", rows_of(measured))
    head = bench.conditions(measured, devices, watch)
    write_metrics(REPORTS / "scaling", head | summarise(measured, found, p.world_size))


if __name__ == "__main__":
    sys.exit(run(main))
