"""The notes' MLP in each form that a compiler gives it, saved, and loaded again in a new process
(section 13.1).

A form is a function from X (n, 512) to logits (n, 2). What a machine cannot build, for want of a
compiler or a GPU, is skipped with the reason.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lab.machine.devices import missing_compiler

NUM_INPUTS = 512
# largest difference of a logit from eager's that rounding in another order explains
TOLERANCE = 1e-4
LOADS = 5

Form = Callable[[Tensor], Tensor]
EAGER, INFERENCE = "eager", "eager, inference mode"
SCRIPT, FROZEN = "TorchScript (deprecated)", "TorchScript, frozen (deprecated)"
COMPILE, GRAPH = "torch.compile", "torch.compile, CUDA graph"
EXPORT, AOT = "torch.export", "AOTInductor"


def mlp(seed: int) -> nn.Sequential:
    """Return the notes' 512-256-128-2 network with torch's default weights, in evaluation mode."""
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
    scripted.save(str(folder / "script.pt"))
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
    torch.export.save(program, folder / "export.pt2")
    return _without_gradients(program.module())


def _aot(net: nn.Module, folder: Path) -> Form:
    package = torch._inductor.aoti_compile_and_package(
        _exported(net), package_path=str(folder / "aot.pt2")
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
NEED_COMPILER = (COMPILE, GRAPH, AOT)


def obstacle(name: str, device: torch.device) -> str:
    """Return why a form cannot be built here, or nothing."""
    if name == GRAPH and device.type != "cuda":
        return "needs a CUDA GPU"
    missing = missing_compiler() if name in NEED_COMPILER else ""
    return f"needs {missing}" if missing else ""


def build(name: str, net: nn.Module, folder: Path) -> tuple[Form | None, float, str]:
    """Return a form, the seconds it took to build it, and why there is none where it does not
    build.
    """
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
    """Have torch's compilers start from nothing, as on a reader's first run, and leave nothing
    behind.
    """
    names = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
    before = {name: os.environ.get(name) for name in names}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ.update(dict.fromkeys(names, folder))
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


# --- saved and loaded again
# ---------------------------------------------------------------------------------------

SAVED = {"weights alone": "weights.pt", SCRIPT: "script.pt", EXPORT: "export.pt2", AOT: "aot.pt2"}


def save_weights_and_example(net: nn.Module, X: Tensor, folder: Path) -> None:
    """Save the weights, and an input with eager's output for the process that loads the forms
    again.
    """
    torch.save(net.state_dict(), folder / "weights.pt")
    with torch.inference_mode():
        torch.save({"X": X.cpu(), "y": net(X).cpu()}, folder / "example.pt")


def _load(name: str, path: Path, device: torch.device) -> Form:
    if name == SCRIPT:
        form: Form = torch.jit.load(str(path), map_location=device)
        return form
    if name == EXPORT:
        return torch.export.load(path).module()
    if name == AOT:
        return torch._inductor.aoti_load_package(str(path))
    net = mlp(0).to(device)
    net.load_state_dict(torch.load(path, weights_only=True, map_location=device))
    return net


def reload(folder: Path, device: str) -> dict[str, dict[str, Any]]:
    """Return of each saved form, in a new process, `bytes`, `load_s`, `difference` from eager, or a
    `problem`.
    """
    command = [sys.executable, "-m", "stages.bench_compile.compiled", str(folder), device]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if result.returncode:
        raise RuntimeError(f"loading the saved forms in a new process failed:\n{result.stderr}")
    found: dict[str, dict[str, Any]] = json.loads(result.stdout.splitlines()[-1])
    return found


def _reload_here(folder: Path, device: torch.device) -> dict[str, dict[str, Any]]:
    example = torch.load(folder / "example.pt", weights_only=True)
    X, found = example["X"].to(device), {}
    for name, file in SAVED.items():
        path = folder / file
        if not path.exists():
            continue
        try:
            found[name] = {
                "bytes": path.stat().st_size,
                **_reload_form(name, path, X, example["y"]),
            }
        except Exception as error:  # whatever a form does not manage in a new process
            found[name] = {"problem": f"does not load in a new process ({type(error).__name__})"}
    return found


def _reload_form(name: str, path: Path, X: Tensor, y: Tensor) -> dict[str, Any]:
    seconds = []
    for _ in range(LOADS):
        start = time.perf_counter()
        form = _load(name, path, X.device)
        seconds.append(time.perf_counter() - start)
    with torch.inference_mode():
        return {"load_s": seconds, "difference": (form(X).cpu() - y).abs().max().item()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(_reload_here(Path(sys.argv[1]), torch.device(sys.argv[2]))))
