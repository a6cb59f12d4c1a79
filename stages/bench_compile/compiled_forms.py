"""The notes' MLP in each form that a compiler gives it (section 13.1).

A form is a function of X (n, 512) that gives logits (n, 2).
"""

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from lab.machine.devices import missing_compiler
from stages.bench_compile.names import (
    AOT,
    COMPILE,
    EAGER,
    EXPORT,
    FROZEN,
    GRAPH,
    INFERENCE,
    SCRIPT,
    WEIGHTS,
)

NUM_INPUTS = 512
NEED_COMPILER = (COMPILE, GRAPH, AOT)
FILES = {WEIGHTS: "weights.pt", SCRIPT: "script.pt", EXPORT: "export.pt2", AOT: "aot.pt2"}

Form = Callable[[Tensor], Tensor]


def mlp(seed: int) -> nn.Sequential:
    """The notes' 512-256-128-2 network with torch's default weights, in evaluation mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = (
            nn.Linear(NUM_INPUTS, 256),
            nn.ReLU(),
            nn.Linear(256, 128),
            nn.ReLU(),
            nn.Linear(128, 2),
        )
    return nn.Sequential(*layers).eval()


def _compiled(net: nn.Module, folder: Path) -> Form:
    return _without_gradients(torch.compile(net, dynamic=False))


def _cuda_graph(net: nn.Module, folder: Path) -> Form:
    return _without_gradients(torch.compile(net, dynamic=False, mode="reduce-overhead"))


def _script(net: nn.Module, folder: Path) -> Form:
    scripted = torch.jit.script(net)
    scripted.save(str(folder / FILES[SCRIPT]))
    return scripted


def _frozen(net: nn.Module, folder: Path) -> Form:
    return _without_gradients(torch.jit.freeze(torch.jit.script(net)))


def _exported(net: nn.Module) -> torch.export.ExportedProgram:
    device = next(net.parameters()).device
    batch = torch.export.Dim("batch", min=1, max=2**20)
    return torch.export.export(
        net, (torch.randn(2, NUM_INPUTS, device=device),), dynamic_shapes=({0: batch},)
    )


def _export(net: nn.Module, folder: Path) -> Form:
    program = _exported(net)
    torch.export.save(program, folder / FILES[EXPORT])
    return _without_gradients(program.module())


def _aot(net: nn.Module, folder: Path) -> Form:
    package = torch._inductor.aoti_compile_and_package(
        _exported(net), package_path=str(folder / FILES[AOT])
    )
    return _without_gradients(torch._inductor.aoti_load_package(package))


def _without_gradients(form: Form) -> Form:
    wrapped: Form = torch.inference_mode()(form)
    return wrapped


BUILDERS: dict[str, Callable[[nn.Module, Path], Form]] = {
    EAGER: lambda net, folder: net,
    INFERENCE: lambda net, folder: _without_gradients(net),
    SCRIPT: _script,
    FROZEN: _frozen,
    COMPILE: _compiled,
    GRAPH: _cuda_graph,
    EXPORT: _export,
    AOT: _aot,
}


def obstacle(name: str, device: torch.device) -> str:
    """Why a form cannot be built here, or nothing."""
    if name == GRAPH and device.type != "cuda":
        return "needs a CUDA GPU"
    missing = missing_compiler() if name in NEED_COMPILER else ""
    return f"needs {missing}" if missing else ""


def build(name: str, net: nn.Module, folder: Path) -> tuple[Form | None, float, str]:
    """A form and the seconds it took to build, or None and why it does not build here."""
    reason = obstacle(name, next(net.parameters()).device)
    if reason:
        return None, 0.0, reason
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript's deprecation, which the form's name says
        try:
            form = BUILDERS[name](net, folder)
        except Exception as error:  # whatever a compiler of this machine does not manage
            return None, 0.0, f"does not build here ({type(error).__name__})"
    return form, time.perf_counter() - start, ""


@contextmanager
def empty_compiler_cache() -> Iterator[None]:
    """Have torch's compilers start from nothing, as on a first run, and leave nothing behind."""
    names = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
    before = {name: os.environ.get(name) for name in names}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ.update(dict.fromkeys(names, folder))
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
