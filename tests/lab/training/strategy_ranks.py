"""What the ranks of tests/lab/training/test_strategies.py run: two `ddp` steps beside those of
`replicas`, told by rank 0.
"""

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lab.core.errors import DistributedError
from lab.core.shared_params import DistributedParams
from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.launch import check_ranks_agree, process_group
from lab.training.loop import predict
from lab.training.strategies import Ddp, Replicas, Strategy

CPU = torch.device("cpu")
SIZES = (64, 7, 1)  # even, uneven, and fewer images than ranks


class Double(nn.Module):
    def forward(self, X: Tensor) -> Tensor:
        return X.double()


def nets() -> dict[str, nn.Module]:
    torch.manual_seed(0)
    linear = nn.Sequential(Double(), nn.Flatten(), nn.Linear(784, 10).double())
    batch_norm = nn.Sequential(
        Double(),
        nn.Conv2d(1, 3, 5, 3).double(),
        nn.BatchNorm2d(3).double(),
        nn.Flatten(),
        nn.Linear(192, 10).double(),
    )
    return {
        "lenet": MODELS["lenet"](torch.Generator().manual_seed(0)),
        "linear": linear,
        "batch_norm": batch_norm,
    }


def batch(size: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(size)
    images = torch.randint(0, 256, (size, 28, 28), dtype=torch.uint8, generator=generator)
    return images, torch.randint(0, 10, (size,), generator=generator)


def steps(strategy: Strategy) -> list[float]:
    return [
        float(
            strategy.total(
                strategy.step(strategy.share(X), strategy.share(y), 0.1, len(X)).double()
            )
        )
        for X, y in map(batch, SIZES)
    ]


def difference(a: dict[str, Tensor], b: dict[str, Tensor]) -> float:
    return max(float((a[name].double() - b[name].double()).abs().max()) for name in a)


def compare(net: nn.Module, world_size: int) -> dict[str, float]:
    """Return the largest differences of losses, weights, each replica's buffers and predictions."""
    ddp, by_hand = Ddp(net, [CPU]), Replicas(net, [CPU] * world_size)
    losses = zip(steps(ddp), steps(by_hand), strict=True)
    state, expected = ddp.state(), by_hand.state()
    images = batch(25)[0]
    buffers = zip(state["buffers"], expected["buffers"], strict=True)
    found = {
        "loss": max(abs(a - b) for a, b in losses),
        "weights": difference(state["params"], expected["params"]),
        "buffers": max(difference(a, b) if a else 0.0 for a, b in buffers),
        "prediction": float((predict(ddp, images) - predict(by_hand, images)).abs().max()),
    }
    again = Ddp(net, [CPU])
    again.load_state(state)
    found["loaded"] = max(difference(again.state()[key], state[key]) for key in ("params",))
    for strategy in (ddp, by_hand, again):
        strategy.close()
    return found


def main() -> None:
    torch.set_num_threads(1)
    params = DistributedParams(nnodes=1, rdzv_endpoint="127.0.0.1:0", timeout_s=60)
    with process_group(Devices("cpu-virtual", [CPU], 1), CPU, params):
        rank, world_size = dist.get_rank(), dist.get_world_size()
        results = {name: compare(net, world_size) for name, net in nets().items()}
        strategy = Ddp(nets()["linear"], [CPU])
        sent = [
            strategy.broadcast(content if rank == 0 else None) for content in (b"abc\x00", None)
        ]
        facts: dict[str, object] = {
            "broadcast": sent == [b"abc\x00", None],
            "any": [strategy.any(rank == 1), strategy.any(False)],
            "shares": strategy.total(
                torch.zeros(9).index_fill_(0, strategy.share(torch.arange(9)), 1)
            ).tolist(),
        }
        strategy.close()
        check_ranks_agree("the same")
        try:
            check_ranks_agree(f"rank {min(rank, 1)}")
        except DistributedError as error:
            facts["disagree"] = str(error)
        if rank == 0:
            Path(sys.argv[1]).write_text(json.dumps({"nets": results, "facts": facts}))


if __name__ == "__main__":
    main()
