"""The notes' MLP in the forms that compilers give it, and their builders (section 13.1).

A form is a function from X (n, 512) to logits (n, 2). A form that cannot be built here is skipped
with the reason; none runs eager under a compiler's name.
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
MOST_SHAPES = 64  # per compiled form; beyond its default limit, 8, torch silently runs eager

Form = Callable[[Tensor], Tensor]
T = TypeVar("T")


# --- the network and its forms ---


def mlp(seed: int) -> nn.Sequential:
    """Make the notes' 512-256-128-2 network with torch's default weights, in evaluation mode."""
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
    """Silence the warnings of torch's compilers, which are about their own code."""
    with warnings.catch_warnings(action="ignore"):
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def missing_script() -> Reason | None:
    """Return a reason if torch has no TorchScript; torch has announced its removal."""
    return None if hasattr(torch.jit, "script") else Reason(NO_TORCHSCRIPT, torch.__version__)


def script(net: nn.Module) -> torch.jit.ScriptModule:
    """Compile to TorchScript, silencing the deprecation warning, which the page mentions.

    Raises:
        MachineError: TorchScript is turned off, so torch returned the network as it is.
    """
    with quiet_torch():
        scripted = torch.jit.script(net)
    if not isinstance(scripted, torch.jit.ScriptModule):
        raise MachineError("PYTORCH_JIT=0 turns TorchScript off; `unset PYTORCH_JIT`")
    return scripted


def compiled(net: nn.Module) -> Form:
    """Compile for each shape separately, as one graph; raise rather than run a part eagerly.

    Compiled forms of one network share a cache with a limit of shapes, so we clear it first.
    """
    torch._dynamo.reset()
    torch._dynamo.config.recompile_limit = MOST_SHAPES
    form: Form = torch.compile(net, dynamic=False, fullgraph=True)
    return form


def exported(net: nn.Module) -> torch.export.ExportedProgram:
    """Export the network for batches of any size."""
    device = next(net.parameters()).device
    batch = torch.export.Dim("batch", min=1, max=2**20)
    return torch.export.export(
        net, (torch.randn(2, NUM_INPUTS, device=device),), dynamic_shapes=({0: batch},)
    )


def ahead_of_time(net: nn.Module, folder: Path) -> Form:
    """Load AOTInductor's package from `folder`, building it if it is missing."""
    path = folder / FILES[AOT]
    if not path.exists():
        torch._inductor.aoti_compile_and_package(exported(net), package_path=str(path))
    form: Form = torch._inductor.aoti_load_package(str(path))
    return form


def cuda_graph(net: nn.Module) -> Form:
    """Record the eager network's kernels for each input, and replay them without Python."""
    graphs: dict[int, tuple[Callable[[], None], Tensor]] = {}

    def call(X: Tensor) -> Tensor:
        if X.data_ptr() not in graphs:
            graphs[X.data_ptr()] = recorded(partial(net, X))
        replay, outputs = graphs[X.data_ptr()]
        replay()
        return outputs

    return call


def without_gradients(form: Form) -> Form:
    """Return the form in inference mode."""
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
    """Return the notes' two forms of the network, or only eager without TorchScript."""
    forms: dict[str, Form] = {EAGER: net}
    if not missing_script():
        forms[SCRIPT] = script(net)
    return forms


def batches(sizes: list[int], seed: int, device: torch.device) -> dict[int, Tensor]:
    """Return random inputs (n, 512) for each size n, the same in every process."""
    generator = torch.Generator().manual_seed(seed)
    return {n: torch.randn(n, NUM_INPUTS, generator=generator).to(device) for n in sizes}


# --- building them ---


class RanEagerError(Exception):
    """torch ran code eagerly under the compiler's name."""


def build(
    name: str,
    net: nn.Module,
    folder: Path,
    inputs: Sequence[Tensor],
    use: Callable[[Form], T],
    compilers: bool = True,
) -> tuple[T | None, float, Reason | None]:
    """Build a form; return `use(form)`, the seconds to build, None; or None, 0, and the reason.

    `use` calls the form with each of `inputs`, which differ in shape: compilers work, and may fail,
    in the first call with each.

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
        except Exception as error:  # whatever this machine's compilers raise
            return None, 0.0, Reason(FAILED, type(error).__name__)
    return used, seconds, None


def obstacle(name: str, device: torch.device, compilers: bool) -> Reason | None:
    """Return the reason if a form cannot be built here."""
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
    """Return `function(variant, *arguments)` for each variant, all in one fresh process.

    A compiler's bug can crash a process that loads or calls its code: on an H200, one that built
    the AOTInductor package crashed. Such a variant's reason is the signal; a new process continues
    with the rest.
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
    """Return `use(form)` for a form by torch.compile, if none of its calls ran eager.

    Raises:
        RanEagerError: torch compiled for fewer shapes than it was called with.
    """
    before = _compiled_graphs()
    used = use(form)
    if _compiled_graphs() - before < len(inputs):
        raise RanEagerError
    return used


def _compiled_graphs() -> int:
    """Return the number of graphs that torch.compile has compiled in this process."""
    return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])
