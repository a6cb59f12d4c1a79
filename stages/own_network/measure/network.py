"""The reader's file: its contract, and an error of one line for each violation.

It is trusted, as this repository's code is: it is imported, in fresh processes alone.
"""

import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils._pytree import tree_leaves, tree_map_only

from lab.core.errors import DataError, DivergedError, LabError, ParamsError, SpaceError
from lab.core.gpu_errors import FULL

Tensors = Any  # a tensor, or a tuple or dict of tensors: net(X), net(*X) or net(**X)
Batch = tuple[Tensors, Tensors]  # inputs and targets; the first dimension is that of examples
MODULE = "own_network_file"  # what the reader's file is called once it is imported


def sgd(parameters: Iterable[nn.Parameter]) -> Optimizer:
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


@dataclass(frozen=True)
class Network:
    """The contents of the reader's file; the first two are required."""

    make_net: Callable[[], nn.Module]
    make_batch: Callable[[int, torch.Generator], Batch]
    loss: Callable[[Any, Tensors], Tensor] = F.cross_entropy
    make_optimizer: Callable[[Iterable[nn.Parameter]], Optimizer] = sgd
    make_loader: Callable[[int], Iterable[Batch]] | None = None
    BATCH_SIZE: int = 64


def load(path: Path) -> Network:
    """Import the reader's file.

    Raises:
        LabError: it cannot be imported, or lacks what is needed.
    """
    if not path.is_file():
        raise ParamsError(f"params.yaml: own_network.file: {path}: no such file; name one that is")
    with one_line(path, "import"):
        spec = importlib.util.spec_from_file_location(MODULE, path.resolve())
        assert spec and spec.loader  # noqa: S101  (its name ends in .py)
        module = sys.modules[MODULE] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(path.resolve().parent))  # as of a script
        spec.loader.exec_module(module)
    known = {field.name: field.default for field in fields(Network)}
    found = {name: getattr(module, name) for name in known if hasattr(module, name)}
    for name, default in known.items():
        if default is MISSING and name not in found:
            raise ParamsError(f"{path}: no function {name}; write one, as the stage's page says")
        if name != "BATCH_SIZE" and name in found and not callable(found[name]):
            raise ParamsError(f"{path}: {name} is no function; make it one")
    if not isinstance(size := found.get("BATCH_SIZE", 1), int) or size < 1:
        raise ParamsError(f"{path}: BATCH_SIZE is {size!r}, expected a number of examples")
    return Network(**found)


@contextmanager
def one_line(path: Path, doing: str, batch_size: int = 0) -> Iterator[None]:
    """Turn any exception of the reader's code into one line that names the line of the file.

    Raises:
        LabError: of what it was; where memory was too small, half the batch is named.
    """
    try:
        yield
    except LabError:
        raise
    except Exception as error:
        if os.environ.get("LAB_DEBUG"):
            raise
        said = (str(error).strip() or "no message").splitlines()[0]
        where = f"{path}{place(error, path)}: {doing}: {type(error).__name__}: {said}"
        if out_of_memory(error):
            smaller = f"BATCH_SIZE = {batch_size // 2}" if batch_size > 1 else "a smaller network"
            raise SpaceError(f"{where}; try {smaller}") from None
        kind = DataError if isinstance(error, OSError) else ParamsError
        raise kind(f"{where}; fix the file") from None


def place(error: BaseException, path: Path) -> str:
    """Return the innermost line of the file in a traceback: `, line 12 (x = self.fc(x))`, or "".

    A compiler's error has no such frame; torch quotes the line instead.
    """
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    if own := [f for f in frames if f.filename == str(path.resolve())]:
        return f", line {own[-1].lineno} ({own[-1].line})"
    quoted = re.findall(rf'File "{re.escape(str(path.resolve()))}", line (\d+)', str(error))
    return f", line {quoted[-1]}" if quoted else ""


def out_of_memory(error: BaseException) -> bool:
    """Return whether the memory of the processor or a GPU was too small."""
    said = str(error)
    return isinstance(error, MemoryError) or any(
        words in said for words in (*FULL, "can't allocate memory", "not enough memory")
    )


def check(network: Network, path: Path, device: torch.device, seed: int) -> None:
    """Compute a loss with each of two seeds, and check each result against the contract.

    Raises:
        LabError: the first violation, in one line.
    """
    losses = []
    for each in (seed, seed + 1):
        torch.manual_seed(each)
        with one_line(path, "make_net()"):
            net = network.make_net()
        if not isinstance(net, nn.Module) or not list(net.parameters()):
            raise ParamsError(
                f"{path}: make_net() gives {type(net).__name__}, expected an nn.Module"
            )
        moved = next((p.device for p in net.parameters() if p.device.type != "cpu"), None)
        if moved is not None:
            raise ParamsError(
                f"{path}: make_net() moves the net to {moved}; leave it where it is made: the"
                " stage moves it"
            )
        with one_line(path, "make_batch(batch_size, generator)", network.BATCH_SIZE):
            batch = network.make_batch(network.BATCH_SIZE, torch.Generator().manual_seed(each))
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise ParamsError(f"{path}: make_batch gives no pair of inputs and targets")
        inputs, targets = on_device(batch, device)
        with one_line(path, "net(inputs)", network.BATCH_SIZE):
            outputs = called(net.to(device), inputs)
        with one_line(path, "loss(outputs, targets)", network.BATCH_SIZE):
            loss = network.loss(outputs, targets)
        if not isinstance(loss, Tensor) or loss.numel() != 1 or not loss.requires_grad:
            shape = list(loss.shape) if isinstance(loss, Tensor) else type(loss).__name__
            raise ParamsError(
                f"{path}: loss(outputs, targets) gives {shape}, expected a tensor of one number"
                " with a gradient, such as a mean"
            )
        losses.append(loss.item())
    if not all(map(torch.isfinite, torch.tensor(losses))):
        raise DivergedError(f"{path}: the first loss is {losses[0]}; fix the net or its inputs")
    if losses[0] == losses[1]:
        raise ParamsError(
            f"{path}: two seeds give the same loss; take out torch.manual_seed, and have"
            " make_batch draw by its generator"
        )


def called(net: nn.Module, inputs: Tensors) -> Any:
    """Return the outputs of a net for a tensor, or a tuple or dict of arguments."""
    if isinstance(inputs, dict):
        return net(**inputs)
    return net(*inputs) if isinstance(inputs, tuple | list) else net(inputs)


def on_device(batch: Any, device: torch.device) -> Any:
    """Move the tensors of a batch to a device."""
    return tree_map_only(Tensor, lambda tensor: tensor.to(device, non_blocking=True), batch)


def examples(batch: Batch) -> int:
    """Return the number of examples: the first dimension of the first tensor."""
    return len(tree_leaves(batch)[0])
