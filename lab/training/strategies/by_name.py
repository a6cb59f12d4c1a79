"""The strategies by their names in params.yaml."""

from collections.abc import Sequence

import torch
from torch import nn

from lab.training.strategies.base import Recipe, Strategy
from lab.training.strategies.dataparallel import DataParallel
from lab.training.strategies.graph import Graph
from lab.training.strategies.processes import Ddp
from lab.training.strategies.replicas import Replicas
from lab.training.strategies.sharded import Sharded, ShardedProcesses

STRATEGIES: dict[str, type[Strategy]] = {
    "replicas": Replicas,
    "graph": Graph,
    "dataparallel": DataParallel,
    "ddp": Ddp,
}
WITH_SHARDS: dict[str, type[Strategy]] = {"replicas": Sharded, "ddp": ShardedProcesses}


def strategy_of(
    name: str, net: nn.Module, devices: Sequence[torch.device], recipe: Recipe
) -> Strategy:
    """A copy of the net on devices, to be trained as `recipe` says."""
    kinds = STRATEGIES if recipe.num_shards is None else WITH_SHARDS
    return kinds[name](net, devices, recipe)
