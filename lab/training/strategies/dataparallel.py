"""`dataparallel`: nn.DataParallel, which the notes use (13.6)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lab.parallel.replicas import forward_backward
from lab.training.run_params import NOTES, RunParams
from lab.training.strategies.base import Strategy


class DataParallel(Strategy):
    """nn.DataParallel: replicas made anew from the first GPU in every step.

    Without GPUs it is the net itself.
    """

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: RunParams = NOTES
    ) -> None:
        """Put the net on the first of `devices`, which must differ."""
        super().__init__(net, devices[:1], recipe)
        [net] = self.nets
        self._parallel = nn.DataParallel(net, list(devices)) if devices[0].type == "cuda" else net

    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step with outputs and loss on the first device."""
        loss = forward_backward(self._parallel, X, y, label_smoothing=self.recipe.label_smoothing)
        self.updates[0](self.nets[0].parameters(), lr, batch_size)
        return loss
