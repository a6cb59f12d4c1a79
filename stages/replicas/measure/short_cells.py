"""The notes' short cells of sections 13.5 and 13.6, each as one number; on a CPU, as they ran it.

They print what `get_params`, the all-reduce and the scatter do.
"""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.nets.lenet import lenet_params
from lab.nets.resnet import resnet18
from lab.parallel.replicas import allreduce, rebinding_allreduce, sum_gradients
from lab.results.curves import Curve, line
from stages.replicas.measure.by_hand import step
from stages.replicas.measure.names import (
    BLANK_FORMATS,
    CELLS,
    CHANGED_ORIGINALS,
    FULLER_SHARE,
    MEAN_UPDATE,
    NEITHER_SUM_NOR_MEAN,
    NONES,
    REBINDING_HIDES,
    REFUSED_ADDITIONS,
    STEPS_ON_ONE,
    SUM_OFF,
    UNEVEN,
    ZEROS,
)
from stages.replicas.measure.training_variants import lenet

NUM_STEPS, NUM_IMAGES = 2, 4  # of nn.DataParallel


def measure_cells(X: Tensor, y: Tensor, seed: int) -> Iterator[Curve]:
    """What each cell shows, with a batch of uint8 images (n, 28, 28) and labels (n,)."""
    found = (
        get_params_cell(seed)
        | allreduce_cell()
        | {MEAN_UPDATE: mean_update_percent(X, y, seed)}
        | scatter_cell()
        | {REFUSED_ADDITIONS: refused_additions(), STEPS_ON_ONE: steps_on_one_device(X, y, seed)}
        | {BLANK_FORMATS: formats_that_print(".2f ")}
    )
    for name, value in found.items():
        yield line(CELLS, name, [0], [value])


def get_params_cell(seed: int) -> dict[str, float]:
    """Move LeNet's parameters to the device where they are, then look at their gradients."""
    originals = lenet_params(torch.Generator().manual_seed(seed))
    moved = [p.to("cpu") for p in originals]
    for p in moved:
        p.requires_grad_()
    return {
        ZEROS: sum(p.grad is not None and not p.grad.any() for p in moved),
        NONES: sum(p.grad is None for p in moved),
        CHANGED_ORIGINALS: sum(p.requires_grad for p in originals),
    }


def allreduce_cell() -> dict[str, float]:
    """All-reduce ones and twos, in place and by note 001's rebinding, which prints the list."""

    def vectors() -> list[Tensor]:
        return [torch.ones(1, 2) * (i + 1) for i in range(2)]

    in_place, tensors = vectors(), vectors()
    allreduce(in_place)
    printed = list(tensors)  # the tensors keep what the devices have
    rebinding_allreduce(printed)
    numbers = torch.cat(in_place)
    return {
        SUM_OFF: float((numbers - 3).abs().max()),
        NEITHER_SUM_NOR_MEAN: min(float((numbers - each).abs().max()) for each in (3, 1.5)),
        REBINDING_HIDES: sum(not torch.equal(p, X) for p, X in zip(printed, tensors, strict=True)),
    }


def mean_update_percent(X: Tensor, y: Tensor, seed: int) -> float:
    """The length of a first update of two devices whose all-reduce averages, over the sum's."""

    def average(data: list[Tensor]) -> None:
        allreduce(data)
        for each in data:
            each.div_(len(data))

    def update(nets: list[nn.Module], mean: bool) -> Tensor:
        before = _weights(nets[0])
        step(nets, X, y, 0.1, lambda nets: sum_gradients(nets, average if mean else allreduce))
        return _weights(nets[0]) - before

    with_mean, with_sum = (update([lenet(seed), lenet(seed)], mean) for mean in (True, False))
    return 100 * float(with_mean.norm() / with_sum.norm())


def _weights(net: nn.Module) -> Tensor:
    return torch.cat([p.detach().double().flatten() for p in net.parameters()])


def scatter_cell() -> dict[str, float]:
    """Split as `nn.parallel.scatter` does, which takes GPUs only: by `torch.chunk`."""
    rows = [len(part) for part in torch.arange(20).reshape(4, 5).chunk(2)]
    uneven = 0
    for count in range(2, 9):
        for n in range(count, 257):
            shares = [len(part) for part in torch.arange(n).chunk(count)]
            shares += [0] * (count - len(shares))  # devices that get nothing
            uneven = max(uneven, max(shares) - min(shares))
    return {FULLER_SHARE: 100 * max(rows) / sum(rows), UNEVEN: uneven}


def refused_additions() -> int:
    """Whether torch refuses, 1 or 0, to add vectors of two devices: the CPU and torch's `meta`."""
    try:
        torch.ones(1, 2) + torch.ones(1, 2, device="meta")
    except RuntimeError:
        return 1
    return 0


def steps_on_one_device(X: Tensor, y: Tensor, seed: int) -> int:
    """How many steps of section 13.6 run with a list of one device, a CPU where there is no GPU."""
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    resnet = resnet18(torch.Generator().manual_seed(seed)).to(device)
    net = nn.DataParallel(resnet, device_ids=[device])
    trainer = torch.optim.SGD(net.parameters(), 0.1)
    few = (X[:NUM_IMAGES, None].float().to(device) / 255, y[:NUM_IMAGES].to(device))
    for done in range(NUM_STEPS):
        trainer.zero_grad()
        loss = F.cross_entropy(net(few[0]), few[1])
        if not loss.isfinite():
            return done
        loss.backward()
        trainer.step()
    return NUM_STEPS


def formats_that_print(format_specification: str) -> int:
    """Whether a format, 1 or 0, prints an accuracy."""
    try:
        format(0.83, format_specification)
    except ValueError:
        return 0
    return 1
