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
NEED_COMPILER = (COMPILE, AOT)
FILES = {WEIGHTS: "weights.pt", SCRIPT: "script.pt", EXPORT: "export.pt2", AOT: "aot.pt2"}
CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")

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


def batches(sizes: list[int], seed: int, device: torch.device) -> dict[int, Tensor]:
    """Random inputs (n, 512) of each size n; the same ones in every process."""
    generator = torch.Generator().manual_seed(seed)
    return {n: torch.randn(n, NUM_INPUTS, generator=generator).to(device) for n in sizes}


def script(net: nn.Module) -> torch.jit.ScriptModule:
    """The network as TorchScript, without the warning of its deprecation, which its name says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted: torch.jit.ScriptModule = torch.jit.script(net)
    return scripted


def exported(net: nn.Module) -> torch.export.ExportedProgram:
    """The network exported for batches of any size."""
    device = next(net.parameters()).device
    batch = torch.export.Dim("batch", min=1, max=2**20)
    return torch.export.export(
        net, (torch.randn(2, NUM_INPUTS, device=device),), dynamic_shapes=({0: batch},)
    )


def _frozen(net: nn.Module, folder: Path) -> Form:
    return without_gradients(torch.jit.freeze(script(net)))


def _compiled(net: nn.Module, folder: Path) -> Form:
    return without_gradients(torch.compile(net, dynamic=False))


def _cuda_graph(net: nn.Module, folder: Path) -> Form:
    """The eager network's kernels, recorded for each input and replayed without Python."""
    recorded: dict[int, tuple[torch.cuda.CUDAGraph, Tensor]] = {}

    def replay(X: Tensor) -> Tensor:
        if X.data_ptr() not in recorded:
            aside = torch.cuda.Stream()
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside):
                net(X)  # libraries get their memory before the recording
            torch.cuda.current_stream().wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                outputs = net(X)
            recorded[X.data_ptr()] = graph, outputs
        graph, outputs = recorded[X.data_ptr()]
        graph.replay()
        return outputs

    return without_gradients(replay)


def _aot(net: nn.Module, folder: Path) -> Form:
    """The package in `folder`, which is made if it is not there."""
    path = folder / FILES[AOT]
    if not path.exists():
        torch._inductor.aoti_compile_and_package(exported(net), package_path=str(path))
    return without_gradients(torch._inductor.aoti_load_package(str(path)))


def without_gradients(form: Form) -> Form:
    """The form in inference mode."""
    wrapped: Form = torch.inference_mode()(form)
    return wrapped


BUILDERS: dict[str, Callable[[nn.Module, Path], Form]] = {
    EAGER: lambda net, folder: net,
    INFERENCE: lambda net, folder: without_gradients(net),
    SCRIPT: lambda net, folder: script(net),
    FROZEN: _frozen,
    COMPILE: _compiled,
    GRAPH: _cuda_graph,
    AOT: _aot,
}


def obstacle(name: str, device: torch.device, compilers: bool) -> str:
    """Why a form cannot be built here, or nothing."""
    if name == GRAPH and device.type != "cuda":
        return "needs a CUDA GPU"
    if name not in NEED_COMPILER:
        return ""
    if not compilers:
        return "bench_compile.compilers is false"
    missing = missing_compiler()
    return f"needs {missing}" if missing else ""


def build(
    name: str, net: nn.Module, folder: Path, compilers: bool = True
) -> tuple[Form | None, float, str]:
    """A form and the seconds it took to build, or None and why it does not build here."""
    reason = obstacle(name, next(net.parameters()).device, compilers)
    if reason:
        return None, 0.0, reason
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compilers' own code
        try:
            form = BUILDERS[name](net, folder)
        except Exception as error:  # whatever a compiler of this machine does not manage
            return None, 0.0, f"does not build here ({type(error).__name__})"
    return form, time.perf_counter() - start, ""


@contextmanager
def empty_compiler_cache() -> Iterator[Path]:
    """A folder for what torch's compilers keep, empty at first and gone at the end.

    This process and its children share it: the first to build a form pays for it, as on a first
    run. They compile in their own process, so that no pool of compilers runs beside what is timed.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        changed = dict.fromkeys(CACHES, folder) | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
        before = {name: os.environ.get(name) for name in changed}
        os.environ.update(changed)
        try:
            yield Path(folder)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


def compiler_cache() -> Path:
    """The folder of `empty_compiler_cache`, in a process started within it."""
    return Path(os.environ[CACHES[0]])
