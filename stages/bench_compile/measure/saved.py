"""Compiled forms saved, then loaded in a new process and in a C++ program (13.1)."""

import copy
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lab.machine.devices import Devices, missing_compiler
from lab.results.measurements import Measurement, skip
from lab.results.reasons import FAILED, NEEDS, OFF, Reason
from stages.bench_compile.measure.forms import (
    FILES,
    NUM_INPUTS,
    Form,
    batches,
    exported,
    missing_script,
    mlp,
    of_each,
    quiet_torch,
    script,
)
from stages.bench_compile.measure.names import AOT, EXPORT, SCRIPT, WEIGHTS

LOADS = 5
EXAMPLE = "example.pt"

Loaded = dict[str, Any]  # bytes, load_s, difference


# --- in a new process ---


def measure_saved(net: nn.Module, seed: int, devices: Devices, folder: Path) -> list[Measurement]:
    """Measure each saved form in a new process: size, time to load, difference from eager."""
    [X] = batches([64], seed, devices.devices[0]).values()
    save(net, X, folder)
    kind = devices.kind
    measured: list[Measurement] = []
    for variant, found in of_each([*FILES], load_anew, folder, devices.devices[0]).items():
        lack = missing_script() if variant == SCRIPT else None
        if isinstance(found, Reason):
            measured.append(skip("saved_load", variant, lack or found, kind))
            continue
        load_ms = tuple(1e3 * t for t in found["load_s"])
        measured += [
            Measurement("saved_size", variant, 0, (found["bytes"] / 1024,), "KiB", kind),
            Measurement("saved_load", variant, 0, load_ms, "ms", kind),
            Measurement("saved_difference", variant, 0, (found["difference"],), "logit", kind),
        ]
    return measured


def save(net: nn.Module, X: Tensor, folder: Path) -> None:
    """Save weights, TorchScript and export, and an input with eager's output to compare with.

    AOTInductor's package is saved where it is built.
    """
    torch.save(net.state_dict(), folder / FILES[WEIGHTS])
    if not missing_script():
        script(net).save(str(folder / FILES[SCRIPT]))
    with quiet_torch():
        torch.export.save(exported(net), folder / FILES[EXPORT])
    with torch.inference_mode():
        torch.save({"X": X.cpu(), "y": net(X).cpu()}, folder / EXAMPLE)


def load_form(variant: str, path: Path, device: torch.device) -> Form:
    """Load a form from its file; with only weights, the program must know the network."""
    if variant == SCRIPT:
        form: Form = torch.jit.load(str(path), map_location=device)
        return form
    if variant == EXPORT:
        return torch.export.load(path).module()
    if variant == AOT:
        return torch._inductor.aoti_load_package(str(path))
    net = mlp(0).to(device)
    weights = torch.load(path, weights_only=True, map_location=device)  # noqa: TID251
    net.load_state_dict(weights)
    return net


def load_anew(variant: str, folder: Path, device: torch.device) -> Loaded | Reason:
    """Load a saved form; return its bytes, seconds and difference from eager, or a reason."""
    example = torch.load(folder / EXAMPLE, weights_only=True)  # noqa: TID251  (our own)
    path = folder / FILES[variant]
    if not path.exists():
        return Reason(FAILED, "not saved")
    try:
        with quiet_torch():
            loaded = _timed(variant, path, example["X"].to(device), example["y"])
    except Exception as error:  # whatever fails in a new process
        return Reason(FAILED, type(error).__name__)
    return {"bytes": path.stat().st_size, **loaded}


def _timed(variant: str, path: Path, X: Tensor, y: Tensor) -> Loaded:
    seconds = []
    for _ in range(LOADS):
        start = time.perf_counter()
        form = load_form(variant, path, X.device)
        seconds.append(time.perf_counter() - start)
    with torch.inference_mode():
        difference = (form(X).cpu() - y).abs().max().item()
    return {"load_s": seconds, "difference": difference}


# --- in another language ---

CPP = """
#define AT_PER_OPERATOR_HEADERS  // or the compiler reads every operator's
#include <ATen/ops/ones.h>
#include <torch/csrc/jit/serialization/import.h>
#include <iostream>
int main(int argc, char** argv) {
  auto net = torch::jit::load(argv[1]);
  auto y = net.forward({at::ones({1, NUM_INPUTS})}).toTensor();
  std::cout.precision(9);
  for (int64_t i = 0; i < y.numel(); ++i) std::cout << y[0][i].item<float>() << " ";
}
"""


def measure_cpp(net: nn.Module, compilers: bool, devices: Devices, folder: Path) -> Measurement:
    """Load and call the TorchScript in C++; measure the difference from eager's logits."""
    missing = missing_compiler()
    lack = Reason(NEEDS, missing) if missing else None
    if reason := missing_script() or (
        lack if compilers else Reason(OFF, "bench_compile.compilers")
    ):
        return skip("front_end", "C++", reason, devices.kind)
    on_cpu = copy.deepcopy(net).cpu()
    saved = folder / "front_end.pt"
    script(on_cpu).save(str(saved))
    try:
        program = _cpp_program(folder)
        printed = subprocess.run(
            [program, saved], capture_output=True, text=True, check=True
        ).stdout
    except (subprocess.CalledProcessError, OSError) as error:
        return skip("front_end", "C++", Reason(FAILED, type(error).__name__), devices.kind)
    with torch.no_grad():
        y = on_cpu(torch.ones(1, NUM_INPUTS)).flatten()
    logits = torch.tensor([float(word) for word in printed.split()])
    largest = (logits - y).abs().max().item()
    return Measurement("front_end", "C++", 0, (largest,), "logit", devices.kind)


def _cpp_program(folder: Path) -> Path:
    """Build the program against the libraries of this torch."""
    torch_folder = Path(torch.__file__).parent
    source, program = folder / "front_end.cpp", folder / "front_end"
    source.write_text(CPP, encoding="utf-8")
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    command = [
        compiler,
        "-std=c++20",
        f"-DNUM_INPUTS={NUM_INPUTS}",
        str(source),
        "-o",
        str(program),
    ]
    headers = ("include", "include/torch/csrc/api/include")
    command += [f"-I{torch_folder / header}" for header in headers]
    library = torch_folder / "lib"
    command += [f"-L{library}", f"-Wl,-rpath,{library}", "-ltorch", "-ltorch_cpu", "-lc10"]
    subprocess.run(command, capture_output=True, check=True)
    return program
