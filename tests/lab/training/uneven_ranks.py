"""Eight ranks with uneven shards, for tests/lab/training/test_uneven_ranks.py.

`python -m tests.lab.training.uneven_ranks FILE` runs the ranks; rank 0 writes to FILE how far their
weights are from those of one device that computes in float64.
"""

import copy
import json
import sys
from functools import partial
from pathlib import Path

import torch
import torch._dynamo  # here, or the wrapper would import it in each rank
import torch.distributed as dist
from torch import Tensor, nn

from lab.nets.models import MODELS, OnBytes
from lab.parallel.allreduce.collectives import ALGORITHMS, Algorithm, Ranks, in_one_bucket
from lab.parallel.cost_model import MODELLED
from lab.parallel.replicas import forward_backward, grad_of, sgd
from lab.training.strategies.base import Strategy
from lab.training.strategies.processes import Ddp
from lab.training.strategies.replicas import Replicas
from tests.lab.parallel.forked_ranks import CPU, run_ranks
from tests.lab.training.strategy_ranks import Double, batch

WORLD_SIZE = 8
# shards of 32; of 12, as an epoch of 60,000 images ends; of 12 and 11; of one image or none
SIZES = (256, 256, 96, 93, 5)
LR = 0.1


def net() -> nn.Module:
    return MODELS["lenet_he"](torch.Generator().manual_seed(0))


def weights_of(strategy: Strategy) -> Tensor:
    """A strategy's weights after a step on a batch of each size."""
    for X, y in map(batch, SIZES):
        strategy.step(strategy.share(X), strategy.share(y), LR, len(X))
    params = [_flat(p) for p in strategy.nets[0].parameters()]
    strategy.close()
    return torch.cat(params)


def by_hand(algorithm: Algorithm, ranks: Ranks) -> Tensor:
    """The weights after the same steps, gradients summed over messages."""
    replica = OnBytes(net())
    params = list(replica.parameters())
    for X, y in map(batch, SIZES):
        mine = [data.tensor_split(ranks.world_size)[ranks.rank] for data in (X, y)]
        forward_backward(replica, *mine)
        in_one_bucket([grad_of(p) for p in params], algorithm, ranks)
        sgd(params, LR, len(X))
    return torch.cat([_flat(p) for p in params])


def of_means() -> Tensor:
    """The weights where each rank brings the gradient of its shard's mean, and all are averaged.

    So a wrapper around a loss of torch's default does it: right only where shards are even.
    """
    replica = OnBytes(net())
    for X, y in map(batch, SIZES):
        for shard in zip(X.tensor_split(WORLD_SIZE), y.tensor_split(WORLD_SIZE), strict=True):
            forward_backward(replica, *shard, scale=1 / max(1, len(shard[1])))
        sgd(replica.parameters(), LR, WORLD_SIZE)
    return torch.cat([_flat(p) for p in replica.parameters()])


def _flat(p: Tensor) -> Tensor:
    return p.detach().double().flatten()


def apart(mine: Tensor) -> float:
    """How far any two ranks' weights are from each other."""
    most, least = mine.clone(), mine.clone()
    dist.all_reduce(most, dist.ReduceOp.MAX)
    dist.all_reduce(least, dist.ReduceOp.MIN)
    return float((most - least).max())


def run_rank(file: Path) -> None:
    ranks = Ranks(dist.group.WORLD)
    found = {"ddp": weights_of(Ddp(net(), [CPU]))}
    found |= {name: by_hand(ALGORITHMS[name], ranks) for name in MODELLED}
    between = max(map(apart, found.values()))
    if ranks.rank == 0:
        exact = nn.Sequential(Double(), copy.deepcopy(net()).double())
        expected = weights_of(Replicas(exact, [CPU]))
        found |= {
            "one device": weights_of(Replicas(net(), [CPU])),
            "replicas": weights_of(Replicas(net(), [CPU] * WORLD_SIZE)),
            "means": of_means(),
        }
        errors = {name: float((w - expected).abs().max()) for name, w in found.items()}
        moved = float((torch.cat([_flat(p) for p in net().parameters()]) - expected).abs().max())
        file.write_text(json.dumps({"errors": errors, "between": between, "moved": moved}))


if __name__ == "__main__":
    sys.exit(run_ranks(WORLD_SIZE, partial(run_rank, Path(sys.argv[1]))))
