"""`graph`: a step on one GPU, recorded as a whole."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from lab.data.images import LabelledImages
from lab.machine.gpus.graphs import recorded
from lab.training.model import Model, RowsStep


class _StepGraph(NamedTuple):
    """A recorded step: `replay` takes it on `rows` and writes `loss`."""

    rows: Tensor
    replay: Callable[[], None]
    loss: Tensor


def graph_step(model: Model, step: RowsStep) -> RowsStep:
    """Return the step as a CUDA graph, from selecting the rows to the new weights.

    Each number of rows has its own graph, recorded at the first such step and then replayed by one
    call, without Python in between. The learning rate is part of the graph. Without a GPU, return
    `step` itself.
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
            model.load_state(before)  # undo the recording's warm-up steps
        graph = graphs[key]
        graph.rows.copy_(rows)
        graph.replay()
        return graph.loss

    return replayed
