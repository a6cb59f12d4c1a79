"""`graph`: the step of one GPU, recorded as a whole."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from lab.data.images import LabelledImages
from lab.machine.gpus.graphs import recorded
from lab.training.model import Model, RowsStep


class _StepGraph(NamedTuple):
    """A recorded step: `replay` takes it on `rows` and writes its `loss`."""

    rows: Tensor
    replay: Callable[[], None]
    loss: Tensor


def graph_step(model: Model, step: RowsStep) -> RowsStep:
    """The step as a CUDA graph: all of it, from picking the rows to the new weights.

    Each number of rows has a graph of its own, recorded at the first such step and replayed from
    then on by one call, with no work of Python's in between. The rate is part of it. Without a GPU
    it is the step as it is.
    """
    if model.devices[0].type != "cuda":
        return step
    pool = torch.cuda.graph_pool_handle()
    graphs: dict[tuple[float, ...], _StepGraph] = {}

    def replayed(train_set: LabelledImages, rows: Tensor, lr: float, batch_size: int) -> Tensor:
        key = (len(rows), lr, batch_size, *(tensor.data_ptr() for tensor in train_set))
        if key not in graphs:
            before, own_rows = model.state(), rows.clone()
            on_own_rows = partial(step, train_set, own_rows, lr, batch_size)
            graphs[key] = _StepGraph(own_rows, *recorded(on_own_rows, pool))
            model.load_state(before)  # as it was before the steps that warm a recording up
        graph = graphs[key]
        graph.rows.copy_(rows)
        graph.replay()
        return graph.loss

    return replayed
