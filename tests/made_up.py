"""Made-up results of the benchmark stages, as a CPU or a GPU would leave them: for what needs no
measurement.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from lab.core.files import write_metrics, write_rows
from lab.data import loaders
from lab.machine.devices import DeviceKind, Devices
from lab.parallel import collectives
from lab.parallel.cost_model import Link, allreduce_path, allreduce_s, bytes_sent
from lab.results.curves import Curve, curve, line
from lab.results.curves import rows_of as rows_of_curves
from lab.results.measurements import Measurement, rows_of, skip
from lab.timing import bench
from lab.timing.bench import A_AGAINST_A, Watch
from stages.bench_async import __main__ as bench_async
from stages.bench_collectives import __main__ as bench_collectives
from stages.bench_compile import __main__ as bench_compile
from stages.bench_compile import compiled
from stages.bench_hardware import __main__ as bench_hardware
from stages.bench_hardware.matmul import WAYS
from stages.bench_input import __main__ as bench_input
from stages.bench_input import step_parts
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap import overlap
from stages.bench_parallel import __main__ as bench_parallel
from stages.bench_training import __main__ as bench_training
from stages.convergence import __main__ as convergence
from stages.convergence.params import ConvergenceParams
from stages.convergence.train_to_target import RULES
from stages.parallelism import __main__ as parallelism
from stages.parallelism.params import ParallelismParams
from stages.scaling import __main__ as scaling
from stages.scaling.params import NetParams, ScalingParams

BENCHES = (
    "bench_compile",
    "bench_async",
    "bench_parallel",
    "bench_overlap",
    "bench_hardware",
    "bench_input",
    "bench_training",
    "bench_collectives",
    "scaling",
)

LINK = Link(
    100e-6, 1e-9 / 2, 1e-9 / 20
)  # of the made-up processes: 100 us, 2 GB/s, adding at 20 GB/s


def samples(median: float) -> tuple[float, ...]:
    """Twelve samples around a median, nearly the same."""
    return tuple(median * (1 + 0.0005 * i) for i in range(-6, 6))


def one(
    demo: str, arm: str, median: float, kind: DeviceKind, x: float = 0, unit: str = "ms"
) -> Measurement:
    return Measurement(demo, arm, x, samples(median), unit, kind, 0 if kind == "cuda" else 1)


def measurements(stage: str, kind: DeviceKind) -> list[Measurement]:
    """Return what a stage measures, with numbers that are easy to recognise; no GPU's arms on a
    CPU.
    """
    made = {
        "bench_compile": _compile,
        "bench_async": _async,
        "bench_parallel": _parallel,
        "bench_overlap": _overlap,
        "bench_hardware": _hardware,
        "bench_input": _input,
        "bench_training": _training,
        "bench_collectives": _collectives,
        "scaling": lambda kind: _steps(_scaling(kind), kind),
    }[stage](kind)
    return [*made, Measurement(A_AGAINST_A, "ratio", 0, samples(1.0), "x", kind)]


def _compile(kind: DeviceKind) -> list[Measurement]:
    made = [
        one("program", n, t, kind, unit="us")
        for n, t in (("text", 40), ("compiled once", 1), ("folded first", 0.2))
    ]
    made += [
        Measurement("instructions", n, 0, (7,), "instructions", kind)
        for n in ("compiled once", "FX graph")
    ]
    for i, name in enumerate(compiled.BUILDERS):
        if name == compiled.GRAPH and kind != "cuda":
            made.append(skip("call", name, "needs a CUDA GPU", kind))
            continue
        made.append(Measurement("build", name, 0, (0.5 * i,), "s", kind))
        made += [Measurement("first_calls", name, x, (1000 / x,), "us", kind) for x in (1, 2, 3)]
        for batch_size in (1, 256):
            made.append(one("call", name, 40 - 4 * i, kind, batch_size, "us"))
            made.append(Measurement("difference", name, batch_size, (1e-6,), "logit", kind))
    for name in compiled.SAVED:
        made += [
            Measurement("saved_size", name, 0, (650.0,), "KiB", kind),
            one("saved_load", name, 3, kind),
        ]
        made.append(Measurement("saved_difference", name, 0, (0.0,), "logit", kind))
    return made


def _async(kind: DeviceKind) -> list[Measurement]:
    returns = 0.01 if kind == "cuda" else 1.0
    made = [one("first_product", "no warm-up", 500, kind, 64, "us")]
    for n, t in ((64, 10.0), (1024, 1000.0)):
        made += [
            one("product", "call returns", returns * t, kind, n, "us"),
            one("product", "result there", t, kind, n, "us"),
        ]
        made += [
            one("numpy_torch", "torch", t, kind, n, "us"),
            one("numpy_torch", "numpy", 2 * t, kind, n, "us"),
        ]
    for count in (1, 10, 100):
        arms = {
            "waiting once": 5 + 2 * count,
            "waiting after each": 5 + 3 * count,
            "calls return": 1 + count,
        }
        made += [one("run_ahead", name, t, kind, count, "us") for name, t in arms.items()]
    made += [
        one("blocker", name, t, kind, 0, "us")
        for name, t in (("nothing", 2), (".item()", 5), ("print", 100))
    ]
    book = {
        "numpy, float64": 40.0,
        "torch, not waited for": 20 * returns,
        "torch, waited for": 20.0,
    }
    made += [one("book", name, t, kind, 500) for name, t in book.items()]
    made.append(Measurement("dependencies", "z", 0, (3.0, 3.0), "", kind))
    return [*made, skip("book", bench_async.WRONG_DEVICE, "needs 2 CUDA GPUs, found 0", kind)]


def _parallel(kind: DeviceKind) -> list[Measurement]:
    made = []
    for size, t in ((64, 1.0), (400, 50.0)):
        arms = (
            (bench_parallel.FIRST, t),
            (bench_parallel.SECOND, t),
            (bench_parallel.AFTER, 2 * t),
            (bench_parallel.TOGETHER, 1.25 * t),
        )
        made += [one("products", arm, seconds, kind, size) for arm, seconds in arms]
    return made


def _overlap(kind: DeviceKind) -> list[Measurement]:
    times = {overlap.COMPUTE: 40.0, overlap.COPIES: 40.0}
    ways = {overlap.IN_TURN: 80.0, overlap.BESIDE: 44.0}
    if kind == "cuda":
        times |= {overlap.PAGEABLE_COPIES: 200.0, overlap.BOOK_COPIES: 60.0, overlap.UPLOADS: 40.0}
        ways = {
            overlap.PAGEABLE: 240.0,
            overlap.BOOK: 100.0,
            overlap.ONE_STREAM: 80.0,
            overlap.TWO_STREAMS: 44.0,
            overlap.BOTH_WAYS: 50.0,
        }
    made = [one("seconds", name, t, kind, 1000) for name, t in (times | ways).items()]
    made += [
        one("bandwidth", name, 10, kind, 1000, "GB/s") for name in times if name != overlap.COMPUTE
    ]
    best = overlap.TWO_STREAMS if kind == "cuda" else overlap.BESIDE
    spans = [
        Measurement(f"timeline, {best}", f"{i} {what}", 2.0 * i, (1.5,), "ms", kind)
        for i, what in enumerate(("compute", "copy", "compute", "copy"))
    ]
    missing = (
        [skip("seconds", n, "needs a CUDA GPU", kind) for n in overlap.ONLY_CUDA]
        if kind != "cuda"
        else []
    )
    return [*made, *bench_overlap.fractions(made), *spans, *missing]


def _hardware(kind: DeviceKind) -> list[Measurement]:
    made = [
        one("latency", "dependent loads", t, "cpu", 4096 * 8**i, "ns")
        for i, t in enumerate((1, 4, 15, 100, 150))
    ]
    made += [one("order", "row by row", 2, "cpu"), one("order", "column by column", 16, "cpu")]
    made += [one("stride", "sum", 0.2 * s, "cpu", 4 * s, "ns") for s in (1, 4, 16, 64)]
    made += [one("matmul", way, 10.0**i, "cpu", 256, "GFLOP/s") for i, way in enumerate(WAYS)]
    made += [
        one("adding", "Python loop", 400, "cpu", 0, "us"),
        one("adding", "one call", 4, "cpu", 0, "us"),
    ]
    made += [
        one("peak", "float32", 100, "cpu", 1, "GFLOP/s"),
        one("bandwidth", "copy", 20, "cpu", 1, "GB/s"),
    ]
    target = "cpu"
    if kind == "cuda":
        target = kind
        made += [
            one("peak", "float32", 50_000, kind, 0, "GFLOP/s"),
            one("bandwidth", "copy", 3000, kind, 0, "GB/s"),
        ]
        made += [
            one("trip", "launch", 5, kind, 1, "us"),
            one("trip", "to the GPU and back", 20, kind, 1, "us"),
        ]
    else:
        made += [
            skip("trip", arm, "needs a CUDA GPU", kind) for arm in ("launch", "to the GPU and back")
        ]
    for i, name in enumerate(bench_hardware.NETS):
        made.append(one("network", name, 50, target, 3.0**i, "GFLOP/s"))
        made.append(Measurement("counted", name, 1000, (3.0 * 3.0**i, 3.0), "GFLOP, GB", target))
    return made


def _input(kind: DeviceKind) -> list[Measurement]:
    made = []
    for i, name in enumerate(
        (loaders.BOOK, loaders.PERSISTENT, loaders.NO_WORKERS, loaders.RESIDENT)
    ):
        speed = 200 if name == loaders.RESIDENT else 1 + i
        made += [
            one("first_batch", name, 80, kind),
            one("images", name, 20_000 * speed, kind, 256, "images/s"),
        ]
        made.append(one("epoch", name, 3 / speed, kind, 256, "s"))
    for net in bench_input.NETS.values():
        for way in (loaders.BOOK, loaders.RESIDENT):
            made += [
                one(f"step, {way}", f"{net}: {part}", 2.0 + i, kind, 256)
                for i, part in enumerate(step_parts.PARTS)
            ]
        made.append(one("evaluation", net, 3, kind, 256))
    return made


def _training(kind: DeviceKind) -> list[Measurement]:
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


def _collectives(kind: DeviceKind) -> list[Measurement]:
    """Times just as the model has them: links of their own between GPUs, one for all on a CPU."""
    shared = kind != "cuda"

    def ms(name: str, n: int, tensors: int, size: float) -> float:
        return 1e3 * allreduce_s(
            "ring" if name == "library" else name, n, tensors, size, LINK, shared
        )

    made = []
    for n, demo in ((2, "2 ranks"), (4, "4 ranks sharing 2 core(s)" if shared else "4 ranks")):
        for name in collectives.ALGORITHMS:
            made += [one(demo, name, ms(name, n, 1, size), kind, size) for size in (4, 4e3, 4e6)]
            made.append(Measurement(f"exact, {n} ranks", name, 4e6, (1.0,), "", kind))
            if name in bench_collectives.MODELLED:
                sent, path = bytes_sent(name, n, 4e6) / 1e6, allreduce_path(name, n, 1, 4e6)
                made.append(Measurement(f"sent, {n} ranks", name, 4e6, (sent,), "MB", kind))
                made.append(
                    Measurement(
                        f"messages, {n} ranks", name, 4e6, (path.messages,), "messages", kind
                    )
                )
    for size in (4, 4e3, 4e6):
        made.append(
            one(
                "2 ranks",
                "there and back",
                1e3 * (2 * LINK.alpha_s + 2 * size * LINK.s_per_byte),
                kind,
                size,
            )
        )
        added = size / 2 * (2 if shared else 1)
        made.append(one("2 ranks", "adding", 1e3 * added * LINK.add_s_per_byte, kind, size))
    for net, tensors, size in (("lenet", 8, 516_272), ("resnet18", 76, 44_703_272)):
        demo = f"{net}, 2 ranks"
        for name in collectives.ALGORITHMS:
            for way, one_bucket in bench_collectives.WAYS.items():
                time = ms(name, 2, 1 if one_bucket else tensors, size)
                made.append(one(demo, f"{name}, {way}", time, kind, size))
        made.append(one(demo, bench_collectives.ONE_PROCESS, 0.05, kind, size))
        made.append(Measurement("tensors", net, size, (tensors,), "tensors", kind))
    skipped = skip("nccl", "all-reduce between GPUs", "needs 2 CUDA GPUs, found 0", kind)
    return made if kind == "cuda" else [*made, skipped]


def _scaling(kind: DeviceKind) -> list[Measurement]:
    """Parts just as the model has them, and steps that take a twentieth longer than their parts."""
    shared, made = kind != "cuda", []
    for size in (1024, 65536, 2**22):
        made += [
            one("message", name, 1e3 * allreduce_s(name, 2, 1, size, LINK, shared), kind, size)
            for name in scaling.MESSAGES
        ]
        there_and_back = 1e3 * (2 * LINK.alpha_s + 2 * size * LINK.s_per_byte)
        made.append(one("message", "there and back", there_and_back, kind, size))
    made.append(
        one(
            "message",
            "adding",
            1e3 * 2**21 * (2 if shared else 1) * LINK.add_s_per_byte,
            kind,
            2**22,
        )
    )
    for name in scaling.MESSAGES:
        late = 7.4 + LATE + 1e3 * allreduce_s(name, 2, 1, 1024, LINK, shared)
        made.append(one("message after computing", name, late, kind, 1024))
    for net, per_image in (("lenet", 0.2), ("resnet18", 30.0)):
        made.append(one("joining", net, 0.0, kind, 8))
        made += [one("without communication", net, 1 + per_image * n, kind, n) for n in (4, 32)]
    return made


def _steps(made: list[Measurement], kind: DeviceKind) -> list[Measurement]:
    found = scaling.machines(made, 2, 0)
    steps = []
    for row in scaling.foretell(SCALING, found):
        arm, x, foretold = (
            f"{row['net']}, {row['way']}",
            float(row["images_per_device"]),
            float(row["foretold_ms"]),
        )
        steps.append(one("measured", arm, 1.05 * foretold, kind, x))
        steps.append(Measurement("foretold", arm, x, (foretold,), "ms", kind))
        steps += [
            Measurement(t, arm, x, (float(row[f"{t}_ms"]),), "ms", kind) for t in ("t1", "t2")
        ]
        steps.append(Measurement("same weights", arm, x, (1.0,), "", kind))
    return [*made, *steps, *scaling.simulate(found)]


LATE = 0.5  # ms, of the first message after a computation
SCALING = ScalingParams(
    rounds=8,
    min_sample_ms=1,
    world_size=2,
    message_bytes=[1024, 65536, 2**22],
    lenet=NetParams(calibration_images=[4, 32], heldout_images=[8, 16]),
    resnet18=NetParams(calibration_images=[4, 32], heldout_images=[8]),
)


def metrics(stage: str, made: list[Measurement], kind: DeviceKind) -> dict[str, float | str]:
    """Return the stage's own metrics of what it measured."""
    devices = Devices(kind, [torch.device("cpu")] * 2, 1)
    derived = {
        "bench_compile": lambda: bench_compile.summarise(made, 1),
        "bench_async": lambda: bench_async.summarise(made),
        "bench_parallel": lambda: bench_parallel.summarise(made, 50),
        "bench_overlap": lambda: bench_overlap.summarise(made),
        "bench_hardware": lambda: bench_hardware.summarise(made),
        "bench_input": lambda: bench_input.summarise(made),
        "bench_training": lambda: bench_training.summarise(made, 1024),
        "bench_collectives": lambda: bench_collectives.summarise(made, 0),
        "scaling": lambda: scaling.summarise(made, scaling.machines(made, 2, 0), 2),
    }[stage]()
    return bench.conditions(made, devices, Watch()) | derived


def write(stage: str, reports: Path, kind: DeviceKind = "cpu-virtual") -> None:
    """Write a stage's rows and metrics under `reports`."""
    made = measurements(stage, kind)
    write_rows(reports / stage, rows_of(made))
    write_metrics(reports / stage, metrics(stage, made, kind))


PARALLELISM = ParallelismParams(num_devices=[2, 3], batch_sizes=[10, 100], num_micro_batches=4)
RATIOS = {
    "LeNet": 20,
    "ResNet-18 (28 x 28)": 60,
    "AlexNet": 10,
    "GoogLeNet (Inception v1)": 300,
    "Inception v3": 400,
    "ResNet-18": 200,
    "ResNet-50": 150,
}
CONVERGENCE = ConvergenceParams(
    image_side=14,
    train_images=1000,
    test_images=100,
    batch_sizes=[10, 100],
    lr=0.1,
    warm_up_epochs=1.0,
    target_accuracy_percent=60.0,
    max_epochs=8,
    num_seeds=3,
)
INF = float("inf")
# of three seeds, at the small and the large batch: all reach it, one does not, none does
EPOCHS = {
    RULES[0]: ((1, 4), (2, 4), (1, 8)),
    RULES[1]: ((1, 1), (2, 2), (1, INF)),
    RULES[2]: ((1, INF), (2, INF), (1, INF)),
}


def parallelism_curves(ratios: dict[str, float] | None = None) -> list[Curve]:
    """Return what the stage `parallelism` measures."""
    sizes, made = PARALLELISM.batch_sizes, []

    def step(name: str, moved: list[float], held: float) -> None:
        made.append(line("moved_mb", name, sizes, moved))
        made.extend(
            line(f"{part}_mb", name, sizes, [held, 2 * held])
            for part in ("total", "params", "activations")
        )
        made.append(line("difference_eps", name, sizes[:1], [3.0]))
        made.append(line("idle_percent", name, sizes, [40.0, 40.0]))

    step(parallelism.ONE, [0.0, 0.0], 12.0)
    for k in PARALLELISM.num_devices:
        step(f"{parallelism.DATA}, {k} devices", [k, k], 12 / k)
        for name in (parallelism.PIPELINE, f"{parallelism.PIPELINE} of 4 micro-batches"):
            step(f"{name}, {k} devices", [0.5, 5], 8.0)
            made.append(line("idle_by_flop_percent", f"{name}, {k} devices", sizes[:1], [70.0]))
        step(f"{parallelism.TENSOR}, {k} devices", [1, 10], 6.0)
    for name, ratio in (ratios or RATIOS).items():
        made.append(
            line(
                "ratio_flop_per_byte",
                name,
                [1, *sizes],
                [ratio, ratio * sizes[0], ratio * sizes[1]],
            )
        )
        made.append(line("ratio_counted", name, [ratio], [ratio**2]))
    return made


def convergence_curves(
    epochs: dict[str, tuple[tuple[float, float], ...]] | None = None,
) -> list[Curve]:
    """Return what the stage `convergence` measures; runs of the last rule that fail have
    diverged.
    """
    x, made = CONVERGENCE.batch_sizes, []
    for rule, seeds in (epochs or EPOCHS).items():
        for i, seed in enumerate(seeds):
            c = line("epochs", f"{rule}, seed {i}", x, seed)
            made.append(
                replace(c, diverged=np.isinf(c.y).astype(float) if rule == RULES[2] else c.diverged)
            )
    times = [np.full(8, 200.0), np.full(8, 100.0)]
    return [*made, curve("us_per_image", "one device", x, times)]


def write_parallelism(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `parallelism` under `reports`."""
    made = curves or parallelism_curves()
    write_rows(reports / "parallelism", rows_of_curves(made))
    metrics = {"device_kind": kind} | parallelism.summarise(made, PARALLELISM)
    write_metrics(reports / "parallelism", metrics)


def write_convergence(
    reports: Path, kind: DeviceKind = "cpu-virtual", curves: list[Curve] | None = None
) -> None:
    """Write the rows and metrics of `convergence` under `reports`."""
    made = curves or convergence_curves()
    write_rows(reports / "convergence", rows_of_curves(made))
    metrics = {"device_kind": kind} | convergence.summarise(made, CONVERGENCE)
    write_metrics(reports / "convergence", metrics)
