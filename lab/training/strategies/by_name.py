"""The strategies by their names in params.yaml."""

from collections.abc import Sequence

import torch
from torch import nn

from lab.training.run_params import RunParams
from lab.training.strategies.base import Strategy
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


def strategy_of(net: nn.Module, devices: Sequence[torch.device], recipe: RunParams) -> Strategy:
    """A copy of the net on devices, to be trained by `recipe`."""
    kinds = STRATEGIES if recipe.shards == "none" else WITH_SHARDS
    return kinds[recipe.strategy](net, devices, recipe)
