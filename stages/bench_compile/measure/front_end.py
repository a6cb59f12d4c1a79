"""The saved TorchScript in a C++ program, without Python: another front end (section 13.1)."""

import copy
import os
import subprocess
import sys
from pathlib import Path

import torch
from torch import nn

from lab.machine.devices import Devices, missing_compiler
from lab.results.measurements import Measurement, skip
from stages.bench_compile.measure import names
from stages.bench_compile.measure.compiled_forms import NUM_INPUTS, script

SOURCE = """
#include <torch/csrc/jit/serialization/import.h>
#include <iostream>
int main(int argc, char** argv) {
  auto net = torch::jit::load(argv[1]);
  auto y = net.forward({at::ones({1, NUM_INPUTS})}).toTensor();
  std::cout.precision(9);
  for (int64_t i = 0; i < y.numel(); ++i) std::cout << y[0][i].item<float>() << " ";
}
"""


def measure_front_end(
    net: nn.Module, compilers: bool, devices: Devices, folder: Path
) -> Measurement:
    """Have a C++ program load the network and call it: its difference from eager's logits."""
    missing = missing_compiler() if compilers else "bench_compile.compilers"
    if missing:
        return skip(names.FRONT_END, names.CPP, f"needs {missing}", devices.kind)
    on_cpu = copy.deepcopy(net).cpu()
    saved = folder / "front_end.pt"
    script(on_cpu).save(str(saved))
    try:
        program = _compiled(folder)
        printed = subprocess.run(
            [program, saved], capture_output=True, text=True, check=True
        ).stdout
    except (subprocess.CalledProcessError, OSError) as error:
        reason = f"does not build or run here ({type(error).__name__})"
        return skip(names.FRONT_END, names.CPP, reason, devices.kind)
    with torch.no_grad():
        y = on_cpu(torch.ones(1, NUM_INPUTS)).flatten()
    logits = torch.tensor([float(word) for word in printed.split()])
    largest = (logits - y).abs().max().item()
    return Measurement(names.FRONT_END, names.CPP, 0, (largest,), "logit", devices.kind)


def _compiled(folder: Path) -> Path:
    """The program, built against the libraries of this torch."""
    torch_folder = Path(torch.__file__).parent
    source, program = folder / "front_end.cpp", folder / "front_end"
    source.write_text(SOURCE, encoding="utf-8")
    headers = ("include", "include/torch/csrc/api/include")
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    command = [
        compiler,
        "-std=c++20",
        f"-DNUM_INPUTS={NUM_INPUTS}",
        str(source),
        "-o",
        str(program),
    ]
    command += [f"-I{torch_folder / header}" for header in headers]
    library = torch_folder / "lib"
    command += [f"-L{library}", f"-Wl,-rpath,{library}", "-ltorch", "-ltorch_cpu", "-lc10"]
    subprocess.run(command, capture_output=True, check=True)
    return program
