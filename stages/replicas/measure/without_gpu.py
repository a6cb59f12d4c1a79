"""The notes' programs that compute on a device, where there is no GPU: which stop, with what words.

Each asks of torch and of its devices what the notes' cells do, on tiny inputs.
"""

import os
from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import nn

from lab.parallel.replicas import allreduce, grad_of
from stages.replicas.measure.by_hand import CPU
from stages.replicas.measure.names import (
    ALL_REDUCE,
    CONCISE_ON_ONE,
    CONCISE_ON_TWO,
    COPIES,
    MATRICES,
    MOVED_PARAMETERS,
    PRODUCTS,
    PRODUCTS_OF_BOTH,
    SCATTER,
    SCRATCH_ON_ONE,
    SCRATCH_ON_TWO,
    WAITED_PRODUCTS,
)

Program = Callable[[], object]


def try_gpu(i: int = 0) -> torch.device:
    """GPU i, or the CPU where there is none, as d2l's."""
    return torch.device("cuda", i) if i < torch.cuda.device_count() else CPU


def try_all_gpus() -> list[torch.device]:
    """All GPUs, or a list of the CPU where there is none, as d2l's."""
    return [try_gpu(i) for i in range(max(1, torch.cuda.device_count()))]


def products() -> None:
    X = torch.ones(2, 2, device=try_gpu())
    X.mm(X)


def products_waited_for() -> None:
    products()
    torch.cuda.synchronize(try_gpu())


def matrices_on_two_devices() -> None:
    devices = try_all_gpus()
    for i in range(2):
        torch.ones(2, 2, device=devices[i])


def products_on_each_waited_for() -> None:
    devices = try_all_gpus()
    for device in devices:
        X = torch.ones(2, 2, device=device)
        X.mm(X)
    for device in devices:
        torch.cuda.synchronize(device)


def copies_waited_for() -> None:
    X = torch.ones(2, 2, device=try_all_gpus()[0])
    X.mm(X).to("cpu", non_blocking=True)
    torch.cuda.synchronize()


def moved_parameters() -> None:
    torch.zeros(2).to(try_gpu(0)).requires_grad_()


def all_reduce_over_two() -> None:
    allreduce([torch.ones(1, 2, device=try_gpu(i)) for i in range(2)])


def scatter_to_gpus() -> None:
    nn.parallel.scatter(torch.ones(4, 5), [torch.device("cuda", i) for i in range(2)])


def training_from_scratch(num_gpus: int) -> None:
    """A step of it: split, forward and backward on each device, sum the gradients, wait."""
    devices = [try_gpu(i) for i in range(num_gpus)]
    params = [torch.ones(5).to(device).requires_grad_() for device in devices]
    shards = nn.parallel.scatter(torch.ones(4, 5), devices)
    for X_shard, w in zip(shards, params, strict=True):
        X_shard.mv(w).sum().backward()
    with torch.no_grad():
        allreduce([grad_of(w) for w in params])
    torch.cuda.synchronize()


def concise_training(num_gpus: int) -> None:
    """A step of it: nn.DataParallel does what the other does by hand."""
    devices = [try_gpu(i) for i in range(num_gpus)]
    net = nn.DataParallel(nn.Linear(5, 2), device_ids=devices)
    trainer = torch.optim.SGD(net.parameters(), 0.1)
    X, y = torch.ones(4, 5).to(devices[0]), torch.zeros(4, dtype=torch.long).to(devices[0])
    F.cross_entropy(net(X), y).backward()
    trainer.step()


PROGRAMS: Mapping[str, Program] = {
    PRODUCTS: products,
    WAITED_PRODUCTS: products_waited_for,
    MATRICES: matrices_on_two_devices,
    PRODUCTS_OF_BOTH: products_on_each_waited_for,
    COPIES: copies_waited_for,
    MOVED_PARAMETERS: moved_parameters,
    ALL_REDUCE: all_reduce_over_two,
    SCATTER: scatter_to_gpus,
    SCRATCH_ON_ONE: lambda: training_from_scratch(1),
    SCRATCH_ON_TWO: lambda: training_from_scratch(2),
    CONCISE_ON_ONE: lambda: concise_training(1),
    CONCISE_ON_TWO: lambda: concise_training(2),
}


def stops_without_gpu() -> dict[str, str]:
    """With what words each program stops, if it does; to be asked of a process of its own.

    It hides what GPUs there are, which works until the first call of CUDA.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    return {name: stop_of(program) for name, program in PROGRAMS.items()}


def stop_of(program: Program) -> str:
    """The error that stops a program, with the first line of its words; nothing if it runs."""
    try:
        program()
    except Exception as error:
        first, *_ = str(error).partition("\n")
        return f"{type(error).__name__}: {first}"
    return ""
