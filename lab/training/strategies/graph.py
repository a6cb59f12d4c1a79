"""`graph`: the step of one GPU, recorded as a whole."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lab.data.images import LabelledImages
from lab.machine.gpus.graphs import recorded
from lab.training.run_params import NOTES, RunParams
from lab.training.strategies.replicas import Replicas


class _StepGraph(NamedTuple):
    """A recorded step: `replay` takes it on `rows` and writes its `loss`."""

    rows: Tensor
    replay: Callable[[], None]
    loss: Tensor


class Graph(Replicas):
    """The step of one GPU as a CUDA graph: all of it, from picking the rows to the new weights.

    Each number of rows has a graph of its own, recorded at the first such step and replayed from
    then on by one call, with no work of Python's in between. The rate is part of it. Without a GPU
    the step is taken as it is.
    """

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: RunParams = NOTES
    ) -> None:
        """Copy the net to the one device of `devices`.

        Raises:
            ValueError: several devices, or updates with a state, which makes its tensors anew.
        """
        super().__init__(net, devices, recipe)
        if len(devices) > 1 or self._rules():
            raise ValueError("expected one device and plain SGD for a step as a graph")
        self._on_gpu = self.devices[0].type == "cuda"
        self._pool = torch.cuda.graph_pool_handle() if self._on_gpu else None
        self._graphs: dict[tuple[float, ...], _StepGraph] = {}

    def step_on(
        self, train_set: LabelledImages, rows: Tensor, lr: float, batch_size: int
    ) -> Tensor:
        """Take a step whose loss the next step of as many rows overwrites."""
        if not self._on_gpu:
            return super().step_on(train_set, rows, lr, batch_size)
        key = (len(rows), lr, batch_size, *(tensor.data_ptr() for tensor in train_set))
        if key not in self._graphs:
            before = self.state()
            own_rows = rows.clone()
            step = partial(super().step_on, train_set, own_rows, lr, batch_size)
            self._graphs[key] = _StepGraph(own_rows, *recorded(step, self._pool))
            self.load_state(before)  # as it was before the steps that warm a recording up
        graph = self._graphs[key]
        graph.rows.copy_(rows)
        graph.replay()
        return graph.loss
