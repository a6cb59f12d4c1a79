"""Run the stage: `python -m stages.bench_compile`."""

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import CodeType

import torch
from torch import Tensor, fx, nn

from lab.core.exit_codes import run
from lab.core.files import REPORTS, write_metrics, write_rows
from lab.core.params import load
from lab.core.shared_params import BenchParams
from lab.machine.devices import Devices, resolve
from lab.results.curves import key
from lab.results.measurements import Measurement, Results, rows_of, skip
from lab.timing import bench
from lab.timing.bench import in_unit, time_arms
from lab.timing.clock import read_clock
from stages.bench_compile import compiled, program_text
from stages.bench_compile.params import Params


def measure_program(devices: Devices, params: BenchParams) -> list[Measurement]:
    """Time the notes' program run as text, compiled once, and folded; and count what is left of it
    to do.
    """
    folded = program_text.fold(program_text.PROGRAM)
    code = {
        "compiled once": compile(program_text.PROGRAM, "", "exec"),
        "folded first": compile(folded, "", "exec"),
    }
    programs: dict[str, CodeType | str] = {"text": program_text.PROGRAM, **code}
    times = time_arms(
        {name: partial(program_text.run, program) for name, program in programs.items()}, [], params
    )
    left = [
        Measurement(
            "instructions",
            name,
            0,
            (program_text.count_instructions(c),),
            "instructions",
            devices.kind,
        )
        for name, c in code.items()
    ]
    namespace: dict[str, compiled.Form] = {}
    exec(program_text.DEFINITIONS, namespace)  # noqa: S102 - constants of the lab's own
    graph = fx.symbolic_trace(namespace["add_four"]).graph
    operations = sum(node.op == "call_function" for node in graph.nodes)
    left.append(
        Measurement("instructions", "FX graph", 0, (operations,), "operations", devices.kind)
    )
    return [*in_unit("program", 0, times, "us", devices), *left]


def measure_forms(
    net: nn.Module, params: Params, devices: Devices, folder: Path
) -> list[Measurement]:
    """Build all forms, time their first calls one by one, then all of them side by side at each
    batch size.
    """
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
        measured.append(
            Measurement("build", name, 0, (seconds + calls[0],), "s", devices.kind, devices.threads)
        )
        measured += [
            Measurement("first_calls", name, i, (1e6 * t,), "us", devices.kind, devices.threads)
            for i, t in enumerate(calls, 1)
        ]
    for batch_size in params.bench_compile.batch_sizes:
        X = torch.randn(batch_size, compiled.NUM_INPUTS, generator=generator).to(device)
        arms = {name: partial(form, X) for name, form in forms.items()}
        measured += in_unit(
            "call", batch_size, time_arms(arms, devices.devices, params.bench), "us", devices
        )
        y = net(X).detach()
        measured += [
            Measurement(
                "difference",
                name,
                batch_size,
                ((form(X) - y).abs().max().item(),),
                "logit",
                devices.kind,
            )
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
    X = torch.randn(64, compiled.NUM_INPUTS, generator=torch.Generator().manual_seed(seed)).to(
        devices.devices[0]
    )
    compiled.save_weights_and_example(net, X, folder)
    found = compiled.reload(folder, str(devices.devices[0]))
    measured = [
        skip("saved_load", name, "nothing was saved", devices.kind)
        for name in compiled.SAVED
        if name not in found
    ]
    for name, saved in found.items():
        if "problem" in saved:
            measured.append(skip("saved_load", name, saved["problem"], devices.kind))
            continue
        values = {
            "size": ((saved["bytes"] / 1024,), "KiB"),
            "difference": ((saved["difference"],), "logit"),
            "load": (tuple(1e3 * t for t in saved["load_s"]), "ms"),
        }
        measured += [
            Measurement(f"saved_{k}", name, 0, v, unit, devices.kind)
            for k, (v, unit) in values.items()
        ]
    return measured


def summarise(measurements: Sequence[Measurement], smallest: int) -> dict[str, float | str]:
    """Return each form's speed-up over eager inference, compile seconds, break-even calls and
    equality.
    """
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
            metrics[f"{prefix}_break_even_calls"] = (
                round(1e6 * built.values[0] / saved_us) if pays else "never"
            )
    eager, script = (
        results.one("call", compiled.EAGER, smallest),
        results.one("call", compiled.SCRIPT, smallest),
    )
    if eager and script:
        metrics |= bench.ratio_metrics(
            "book_torchscript_over_eager", bench.speedup_of(eager, script)
        )
    differences = [
        m.values[0] for m in measurements if m.demo in ("difference", "saved_difference")
    ]
    metrics["forms_equal_eager"] = (
        "yes" if max(differences, default=0) <= compiled.TOLERANCE else "no"
    )
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
        REPORTS / "bench_compile",
        bench.conditions(measured, devices, watch) | summarise(measured, smallest),
    )


if __name__ == "__main__":
    sys.exit(run(main))
