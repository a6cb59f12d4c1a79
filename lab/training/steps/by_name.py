"""The model of a recipe, and the step that trains it."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lab.data.images import LabelledImages
from lab.training.model import BatchStep, Model, RowsStep
from lab.training.processes import Alone
from lab.training.run_params import RunParams
from lab.training.steps.dataparallel import dataparallel_step
from lab.training.steps.ddp import ddp_step
from lab.training.steps.graph import graph_step
from lab.training.steps.replicas import replicas_step
from lab.training.steps.sharded import sharded_model, sharded_step


def model_and_step(
    net: nn.Module,
    devices: Sequence[torch.device],
    recipe: RunParams,
    processes: Alone | None = None,
) -> tuple[Model, RowsStep]:
    """Return a copy of the net on this process's devices, and the step that trains the copy."""
    if recipe.shards != "none":
        model = sharded_model(net, devices, recipe, processes or Alone(), recipe.shards)
        return model, on_rows(sharded_step(model))
    if recipe.strategy == "dataparallel":
        model = Model(net, devices[:1], recipe)
        return model, on_rows(dataparallel_step(model, devices))
    model = Model(net, devices, recipe, processes)
    if recipe.strategy == "ddp":
        return model, on_rows(ddp_step(model))
    step = on_rows(replicas_step(model))
    return model, graph_step(model, step) if recipe.strategy == "graph" else step


def on_rows(step: BatchStep) -> RowsStep:
    """Convert a step on a batch to a step on rows of a train set on the first device."""

    def step_on_rows(train_set: LabelledImages, rows: Tensor, lr: float, batch_size: int) -> Tensor:
        X, y = (tensor.index_select(0, rows) for tensor in train_set)
        return step(X, y, lr, batch_size)

    return step_on_rows
