"""The notes' short cells of sections 13.5 and 13.6, each as one number; on a CPU, as they ran it.

They print what `get_params` and the scatter do. The accuracy alone is computed on GPUs, if any.
"""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

from lab.nets.lenet import lenet_params
from lab.results.curves import Curve, line
from stages.replicas.measure.by_hand import accuracy_percent
from stages.replicas.measure.names import BLANK_FORMATS, CELLS, FULLER_SHARE, ZEROS


def measure_cells(seed: int) -> Iterator[Curve]:
    """What each cell shows."""
    found = {
        ZEROS: gradients_of_zeros(seed),
        FULLER_SHARE: fuller_share(),
        BLANK_FORMATS: formats_that_print(".2f "),
    }
    for name, value in found.items():
        yield line(CELLS, name, [0], [value])


def gradients_of_zeros(seed: int) -> int:
    """How many gradients are zero after LeNet's parameters were moved to where they are."""
    originals = lenet_params(torch.Generator().manual_seed(seed))
    moved = [p.to("cpu") for p in originals]
    for p in moved:
        p.requires_grad_()
    return sum(p.grad is not None and not p.grad.any() for p in moved)


def fuller_share() -> float:
    """The percent of rows that the fuller of two devices gets of the notes' scatter.

    Split by `torch.chunk`, as `nn.parallel.scatter` does, which itself takes GPUs only.
    """
    rows = [len(part) for part in torch.arange(20).reshape(4, 5).chunk(2)]
    return 100 * max(rows) / sum(rows)


def formats_that_print(format_specification: str) -> int:
    """Whether a format, 1 or 0, prints an accuracy."""
    try:
        format(0.83, format_specification)
    except ValueError:
        return 0
    return 1


def evaluating_devices(devices: Iterable[torch.device]) -> int:
    """On how many devices a net runs while nn.DataParallel computes its accuracy over `devices`."""
    first, *others = devices
    seen = set()

    def see(_: nn.Module, inputs: tuple[Tensor]) -> None:
        seen.add(inputs[0].device)

    net = nn.Linear(5, 2).to(first)
    net.register_forward_pre_hook(see)  # of every replica, too
    X, y = torch.ones(4, 5, device=first), torch.zeros(4, device=first)
    accuracy_percent(nn.DataParallel(net, [first, *others]), (X, y))
    return len(seen)
