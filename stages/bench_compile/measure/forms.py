"""The notes' MLP in each form that a compiler gives it, and how each form is built (section 13.1).

A form is a function of X (n, 512) that gives logits (n, 2). One that cannot be built here is
skipped with the reason; none runs eager under its own name.
"""

import logging
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from lab.core.errors import DistributedError, LabError, MachineError
from lab.machine.devices import missing_compiler, missing_for_compile
from lab.machine.fresh_process import fresh_process, silence_stdout
from lab.machine.gpus.graphs import recorded
from lab.results.reasons import FAILED, NEEDS, NEEDS_GPU, NO_TORCHSCRIPT, OFF, Reason
from lab.timing.clock import read_clock
from stages.bench_compile.measure.names import (
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
MOST_SHAPES = 64  # that a form is compiled for: over its limit, 8, torch runs eager without a word

Form = Callable[[Tensor], Tensor]
T = TypeVar("T")


# --- the network and its forms ---


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


@contextmanager
def quiet_torch() -> Iterator[None]:
    """Leave out what torch's compilers warn of, which is their own code."""
    with warnings.catch_warnings(action="ignore"):
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def missing_script() -> Reason | None:
    """Why there is no TorchScript here, if there is none; torch announces that it will go."""
    return None if hasattr(torch.jit, "script") else Reason(NO_TORCHSCRIPT, torch.__version__)


def script(net: nn.Module) -> torch.jit.ScriptModule:
    """The network as TorchScript; that it is deprecated is said on the page.

    Raises:
        MachineError: TorchScript is turned off: torch then gives the network back as it is.
    """
    with quiet_torch():
        scripted = torch.jit.script(net)
    if not isinstance(scripted, torch.jit.ScriptModule):
        raise MachineError("PYTORCH_JIT=0 turns TorchScript off; `unset PYTORCH_JIT`")
    return scripted


def compiled(net: nn.Module) -> Form:
    """Compiled anew for each shape, and whole, or an error where eager would stand in for a part.

    Compiled forms of one network share what they compiled, and the limit of shapes: none is left.
    """
    torch._dynamo.reset()
    torch._dynamo.config.recompile_limit = MOST_SHAPES
    form: Form = torch.compile(net, dynamic=False, fullgraph=True)
    return form


def exported(net: nn.Module) -> torch.export.ExportedProgram:
    """The network exported for batches of any size."""
    device = next(net.parameters()).device
    batch = torch.export.Dim("batch", min=1, max=2**20)
    return torch.export.export(
        net, (torch.randn(2, NUM_INPUTS, device=device),), dynamic_shapes=({0: batch},)
    )


def ahead_of_time(net: nn.Module, folder: Path) -> Form:
    """AOTInductor's package in `folder`, which is made if it is not there."""
    path = folder / FILES[AOT]
    if not path.exists():
        torch._inductor.aoti_compile_and_package(exported(net), package_path=str(path))
    form: Form = torch._inductor.aoti_load_package(str(path))
    return form


def cuda_graph(net: nn.Module) -> Form:
    """The eager network's kernels, recorded for each input and replayed without Python."""
    graphs: dict[int, tuple[Callable[[], None], Tensor]] = {}

    def call(X: Tensor) -> Tensor:
        if X.data_ptr() not in graphs:
            graphs[X.data_ptr()] = recorded(partial(net, X))
        replay, outputs = graphs[X.data_ptr()]
        replay()
        return outputs

    return call


def without_gradients(form: Form) -> Form:
    """The form in inference mode."""
    wrapped: Form = torch.inference_mode()(form)
    return wrapped


BUILDERS: dict[str, Callable[[nn.Module, Path], Form]] = {
    EAGER: lambda net, folder: net,
    INFERENCE: lambda net, folder: without_gradients(net),
    SCRIPT: lambda net, folder: script(net),
    FROZEN: lambda net, folder: without_gradients(torch.jit.freeze(script(net))),
    COMPILE: lambda net, folder: without_gradients(compiled(net)),
    GRAPH: lambda net, folder: without_gradients(cuda_graph(net)),
    AOT: lambda net, folder: without_gradients(ahead_of_time(net, folder)),
}


def eager_and_script(net: nn.Module) -> dict[str, Form]:
    """The network's two forms in the notes, if there is TorchScript."""
    forms: dict[str, Form] = {EAGER: net}
    if not missing_script():
        forms[SCRIPT] = script(net)
    return forms


def batches(sizes: list[int], seed: int, device: torch.device) -> dict[int, Tensor]:
    """Random inputs (n, 512) of each size n; the same ones in every process."""
    generator = torch.Generator().manual_seed(seed)
    return {n: torch.randn(n, NUM_INPUTS, generator=generator).to(device) for n in sizes}


# --- building them ---


class RanEagerError(Exception):
    """Under the compiler's name torch ran what it had not compiled."""


def build(
    name: str,
    net: nn.Module,
    folder: Path,
    inputs: Sequence[Tensor],
    use: Callable[[Form], T],
    compilers: bool = True,
) -> tuple[T | None, float, Reason | None]:
    """What `use` makes of a form that took so many seconds to build; or None, and why it cannot.

    `use` calls the form with each of `inputs`, which differ in shape: compilers work in the first
    call of each, and what they do not manage here shows there.

    Raises:
        MachineError: TorchScript is turned off.
    """
    device = next(net.parameters()).device
    reason = obstacle(name, device, compilers)
    if reason:
        return None, 0.0, reason
    with quiet_torch():
        try:
            start = read_clock([device])
            form = BUILDERS[name](net, folder)
            seconds = read_clock([device]) - start
            used = _used_compiled(form, use, inputs) if name == COMPILE else use(form)
        except LabError:
            raise
        except Exception as error:  # whatever a compiler of this machine does not manage
            return None, 0.0, Reason(FAILED, type(error).__name__)
    return used, seconds, None


def obstacle(name: str, device: torch.device, compilers: bool) -> Reason | None:
    """Why a form cannot be built here, if it cannot."""
    if name == GRAPH and device.type != "cuda":
        return Reason(NEEDS_GPU)
    if name in (SCRIPT, FROZEN):
        return missing_script()
    if name not in NEED_COMPILER:
        return None
    if not compilers:
        return Reason(OFF, "bench_compile.compilers")
    missing = missing_for_compile() if name == COMPILE else missing_compiler()
    return Reason(NEEDS, missing) if missing else None


def of_each(
    variants: Sequence[str], function: Callable[..., T], *arguments: Any
) -> dict[str, T | Reason]:
    """What function(variant, *arguments) returns for each variant, all in one fresh process.

    A compiler's mistake can crash whoever loads or calls what it made: on an H200, it ended a
    process that built the AOTInductor package. Such a variant has the signal, and a new process
    has the rest.
    """
    found: dict[str, T | Reason] = {}
    while left := variants[len(found) :]:
        with fresh_process(
            "the process of all forms", _serve, left, function, *arguments
        ) as process:
            try:
                for variant in left:
                    found[variant] = process.receive()
            except DistributedError:
                code = process.process.exitcode
                if code is None or code >= 0:
                    raise
                found[variant] = Reason(FAILED, signal.Signals(-code).name)
    return found


def _serve(
    link: Connection, variants: Sequence[str], function: Callable[..., object], *arguments: Any
) -> None:
    silence_stdout()
    for variant in variants:
        link.send(function(variant, *arguments))


def _used_compiled(form: Form, use: Callable[[Form], T], inputs: Sequence[Tensor]) -> T:
    """`use(form)` of a form by torch.compile, none of whose calls ran eager.

    Raises:
        RanEagerError: torch compiled for fewer shapes than it was called with.
    """
    before = _compiled_graphs()
    used = use(form)
    if _compiled_graphs() - before < len(inputs):
        raise RanEagerError
    return used


def _compiled_graphs() -> int:
    """How many graphs torch.compile has compiled in this process."""
    return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])
