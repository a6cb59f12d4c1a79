"""Does compiling a network make it faster, after how many calls, and what can be saved and loaded again?

The notes' program as text, compiled and executed, with what a compiler may fold once it sees all of it. Then their
MLP (512-256-128-2) in eight forms, from eager to ahead-of-time compiled: seconds per call at several batch sizes,
side by side; the first calls one by one, for a compiler works during the first; how many calls it takes until
compiling has paid; and whether each saved form gives the same outputs in a new process.

The notes time 1000 calls of batch 1 once, without warm-up, and say the result proves a gain. Compilers start from
empty caches here, gradients are off wherever a form allows it, and a form that does not build is skipped with the
reason. Read `reports/bench_compile/rows.csv`, one row per sample. Book: 13.1.
"""

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, fx, nn

from lab import bench, compiled, symbolic
from lab.bench import BenchParams, in_unit, time_arms
from lab.curves import key
from lab.devices import DeviceParams, Devices, resolve
from lab.measurements import Measurement, Results, rows_of, skip
from lab.params import Section, Seed, load
from lab.records import REPORTS, write_metrics, write_rows
from lab.runner import run
from lab.timing import read_clock


class CompileParams(Section):
    """The `bench_compile` section of params.yaml."""

    batch_sizes: list[Annotated[int, Field(ge=1, le=2**20)]] = Field(min_length=1, max_length=8)
    first_calls: Annotated[int, Field(ge=2, le=1000)]
    compilers: bool


class Params(Section):
    """What `bench_compile` reads of params.yaml."""

    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    bench_compile: CompileParams


def measure_program(devices: Devices, params: BenchParams) -> list[Measurement]:
    """Time the notes' program run as text, compiled once, and folded; and count what is left of it to do."""
    folded = symbolic.fold(symbolic.PROGRAM)
    code = {"compiled once": compile(symbolic.PROGRAM, "", "exec"), "folded first": compile(folded, "", "exec")}
    programs: dict[str, CodeType | str] = {"text": symbolic.PROGRAM, **code}
    times = time_arms({name: partial(symbolic.run, program) for name, program in programs.items()}, [], params)
    left = [
        Measurement("instructions", name, 0, (symbolic.count_instructions(c),), "instructions", devices.kind)
        for name, c in code.items()
    ]
    namespace: dict[str, compiled.Form] = {}
    exec(symbolic.DEFINITIONS, namespace)  # noqa: S102 - constants of the lab's own
    graph = fx.symbolic_trace(namespace["add_four"]).graph
    operations = sum(node.op == "call_function" for node in graph.nodes)
    left.append(Measurement("instructions", "FX graph", 0, (operations,), "operations", devices.kind))
    return [*in_unit("program", 0, times, "us", devices), *left]


def measure_forms(net: nn.Module, params: Params, devices: Devices, folder: Path) -> list[Measurement]:
    """Build all forms, time their first calls one by one, then all of them side by side at each batch size."""
    device, generator = devices.devices[0], torch.Generator().manual_seed(params.seed)
    x = torch.randn(1, compiled.NUM_INPUTS, generator=generator).to(device)
    forms: dict[str, compiled.Form] = {}
    measured = []
    for name in compiled.BUILDERS:
        if name in compiled.NEED_COMPILER and not params.bench_compile.compilers:
            measured.append(skip("call", name, "bench_compile.compilers is false", devices.kind))
            continue
        form, seconds, reason = compiled.build(name, net, folder)
        if form is None:
            measured.append(skip("call", name, reason, devices.kind))
            continue
        forms[name] = form
        calls = _first_calls(form, x, devices, params.bench_compile.first_calls)
        measured.append(Measurement("build", name, 0, (seconds + calls[0],), "s", devices.kind, devices.threads))
        measured += [
            Measurement("first_calls", name, i, (1e6 * t,), "us", devices.kind, devices.threads)
            for i, t in enumerate(calls, 1)
        ]
    for batch_size in params.bench_compile.batch_sizes:
        X = torch.randn(batch_size, compiled.NUM_INPUTS, generator=generator).to(device)
        arms = {name: partial(form, X) for name, form in forms.items()}
        measured += in_unit("call", batch_size, time_arms(arms, devices.devices, params.bench), "us", devices)
        y = net(X).detach()
        measured += [
            Measurement("difference", name, batch_size, ((form(X) - y).abs().max().item(),), "logit", devices.kind)
            for name, form in forms.items()
        ]
    return measured


def _first_calls(form: compiled.Form, x: Tensor, devices: Devices, count: int) -> list[float]:
    seconds = []
    for _ in range(count):
        start = read_clock(devices.devices)
        form(x)
        seconds.append(read_clock(devices.devices) - start)
    return seconds


def measure_saved(net: nn.Module, seed: int, devices: Devices, folder: Path) -> list[Measurement]:
    """Load every saved form in a new process: size on disk, time to load, difference from eager."""
    X = torch.randn(64, compiled.NUM_INPUTS, generator=torch.Generator().manual_seed(seed)).to(devices.devices[0])
    compiled.save_weights_and_example(net, X, folder)
    found = compiled.reload(folder, str(devices.devices[0]))
    measured = [
        skip("saved_load", name, "nothing was saved", devices.kind) for name in compiled.SAVED if name not in found
    ]
    for name, saved in found.items():
        if "problem" in saved:
            measured.append(skip("saved_load", name, saved["problem"], devices.kind))
            continue
        values = {"size": ((saved["bytes"] / 1024,), "KiB"), "difference": ((saved["difference"],), "logit"),
                  "load": (tuple(1e3 * t for t in saved["load_s"]), "ms")}  # fmt: skip
        measured += [Measurement(f"saved_{k}", name, 0, v, unit, devices.kind) for k, (v, unit) in values.items()]
    return measured


def summarise(measurements: Sequence[Measurement], smallest: int) -> dict[str, float | str]:
    """Return each form's speed-up over eager inference, compile seconds, break-even calls and equality."""
    results = Results(measurements)
    base = results.one("call", compiled.INFERENCE, smallest)
    metrics: dict[str, float | str] = {}
    for name in results.arms("call"):
        call, prefix = results.one("call", name, smallest), key(name)
        if call is None or base is None:
            continue
        metrics |= bench.median_metrics(f"{prefix}_call_us", call.values)
        if name == compiled.INFERENCE:
            continue
        speedup = bench.speedup_of(base, call)
        metrics |= bench.ratio_metrics(f"{prefix}_speedup", speedup)
        built = results.one("build", name)
        if built is not None and name != compiled.EAGER:
            saved_us = base.summary.median - call.summary.median
            pays = speedup.verdict == "faster"
            metrics[f"{prefix}_build_s"] = round(built.values[0], 3)
            metrics[f"{prefix}_break_even_calls"] = round(1e6 * built.values[0] / saved_us) if pays else "never"
    eager, script = results.one("call", compiled.EAGER, smallest), results.one("call", compiled.SCRIPT, smallest)
    if eager and script:
        metrics |= bench.ratio_metrics("book_torchscript_over_eager", bench.speedup_of(eager, script))
    differences = [m.values[0] for m in measurements if m.demo in ("difference", "saved_difference")]
    metrics["forms_equal_eager"] = "yes" if max(differences, default=0) <= compiled.TOLERANCE else "no"
    text, folded = results.one("program", "text"), results.one("program", "folded first")
    if text and folded:
        metrics |= bench.ratio_metrics("folded_program_speedup", bench.speedup_of(text, folded))
    return metrics


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    watch, devices = bench.Watch(), resolve(1, params.devices)
    net = compiled.mlp(params.seed).to(devices.devices[0])
    with compiled.empty_compiler_cache(), tempfile.TemporaryDirectory() as folder:
        measured = [
            *measure_program(devices, params.bench),
            *measure_forms(net, params, devices, Path(folder)),
            *measure_saved(net, params.seed, devices, Path(folder)),
        ]
    X = torch.randn(1, compiled.NUM_INPUTS).to(devices.devices[0])
    measured += bench.noise_control(lambda: net(X), devices, params.bench)
    write_rows(REPORTS / "bench_compile", rows_of(measured))
    smallest = min(params.bench_compile.batch_sizes)
    write_metrics(
        REPORTS / "bench_compile", bench.conditions(measured, devices, watch) | summarise(measured, smallest)
    )


if __name__ == "__main__":
    sys.exit(run(main))
