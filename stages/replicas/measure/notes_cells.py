"""The notes' cells of sections 13.3 to 13.6: what they print, and whether they run without a GPU.

Each is reduced to its use of torch and of its devices, on tiny inputs.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.data.images import Images
from lab.machine.devices import DeviceKind
from lab.nets.lenet import lenet_params
from lab.parallel.replicas import allreduce, grad_of
from lab.results.measurements import Measurement
from lab.training.short_training import finite_accuracy
from stages.replicas.measure.names import PROGRAMS

CPU = torch.device("cpu")

# --- the cells' output, each as one number


def measure_cells(
    seed: int, devices: Sequence[torch.device], kind: DeviceKind
) -> Iterator[Measurement]:
    """Yield the output of each cell, on a CPU as in the notes, except for the accuracy."""
    found = {
        "gradients that are zeros": gradients_of_zeros(seed),
        "% of the rows on the fuller device": fuller_share(),
        "formats with a blank that print": formats_that_print(".2f "),
    }
    for name, value in found.items():
        yield Measurement("cells", name, 0, (value,))
    computing = evaluating_devices(dict.fromkeys(devices))
    yield Measurement("cells", "devices that compute an accuracy", 0, (computing,), "", kind)


def gradients_of_zeros(seed: int) -> int:
    """Count the zero gradients after moving LeNet's parameters to the device they are on."""
    originals = lenet_params(torch.Generator().manual_seed(seed))
    moved = [p.to("cpu") for p in originals]
    for p in moved:
        p.requires_grad_()
    return sum(p.grad is not None and not p.grad.any() for p in moved)


def fuller_share() -> float:
    """Return the percentage of rows that the fuller of two devices gets in the notes' scatter.

    We split by `torch.chunk`, as `nn.parallel.scatter` does, which itself only takes GPUs.
    """
    rows = [len(part) for part in torch.arange(20).reshape(4, 5).chunk(2)]
    return 100 * max(rows) / sum(rows)


def formats_that_print(format_specification: str) -> int:
    """Return 1 if a format prints an accuracy, else 0."""
    try:
        format(0.83, format_specification)
    except ValueError:
        return 0
    return 1


def evaluating_devices(devices: Iterable[torch.device]) -> int:
    """Count the devices that run a net while nn.DataParallel computes its accuracy on `devices`."""
    first, *others = devices
    seen = set()

    def see(_: nn.Module, inputs: tuple[Tensor]) -> None:
        seen.add(inputs[0].device)

    net = nn.Linear(5, 2).to(first)
    net.register_forward_pre_hook(see)  # replicas inherit the hook
    X, y = torch.ones(4, 5, device=first), torch.zeros(4, device=first)
    finite_accuracy(nn.DataParallel(net, [first, *others]), Images(X, y))
    return len(seen)


# --- without a GPU

Program = Callable[[], object]


def try_gpu(i: int = 0) -> torch.device:
    """Return GPU i, or else the CPU, as in d2l."""
    return torch.device("cuda", i) if i < torch.cuda.device_count() else CPU


def try_all_gpus() -> list[torch.device]:
    """Return all GPUs, or else the CPU in a list, as in d2l."""
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
    """Take a step: split, forward and backward on each device, all-reduce, synchronize."""
    devices = [try_gpu(i) for i in range(num_gpus)]
    params = [torch.ones(5).to(device).requires_grad_() for device in devices]
    shards = nn.parallel.scatter(torch.ones(4, 5), devices)
    for X_shard, w in zip(shards, params, strict=True):
        X_shard.mv(w).sum().backward()
    with torch.no_grad():
        allreduce([grad_of(w) for w in params])
    torch.cuda.synchronize()


def concise_training(num_gpus: int) -> None:
    """Take a step: nn.DataParallel does what `training_from_scratch` does by hand."""
    devices = [try_gpu(i) for i in range(num_gpus)]
    net = nn.DataParallel(nn.Linear(5, 2), device_ids=devices)
    trainer = torch.optim.SGD(net.parameters(), 0.1)
    X, y = torch.ones(4, 5).to(devices[0]), torch.zeros(4, dtype=torch.long).to(devices[0])
    F.cross_entropy(net(X), y).backward()
    trainer.step()


REDUCED: Sequence[Program] = (  # in the order of PROGRAMS
    products,
    products_waited_for,
    matrices_on_two_devices,
    products_on_each_waited_for,
    copies_waited_for,
    moved_parameters,
    all_reduce_over_two,
    scatter_to_gpus,
    partial(training_from_scratch, 1),
    partial(training_from_scratch, 2),
    partial(concise_training, 1),
    partial(concise_training, 2),
)


def measure_programs(where: str, gpus: str) -> list[Measurement]:
    """Return whether each program runs (1 or 0), and torch's error message.

    Only `gpus` are visible, which requires a process that has not called CUDA yet.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus
    return [
        Measurement(where, name, 0, (float(not error),), remark=error, columns={"place": place})
        for (name, place), program in zip(PROGRAMS.items(), REDUCED, strict=True)
        for error in [error_of(program)]
    ]


def error_of(program: Program) -> str:
    """Return the error that stops a program with its message's first line, or "" if it runs."""
    try:
        program()
    except Exception as error:
        first, *_ = str(error).partition("\n")
        return f"{type(error).__name__}: {first}"
    return ""
