"""One of several ranks: steps of `ddp` beside those of `replicas`."""

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lab.core.errors import DistributedError
from lab.nets.models import MODELS
from lab.parallel.launch import check_ranks_agree
from lab.training import steps
from lab.training.loop import predict
from lab.training.steps import Stepper
from lab.training.strategies.base import Strategy
from lab.training.strategies.processes import Ddp
from lab.training.strategies.replicas import Replicas
from tests.helpers import recipe

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


def losses_of(strategy: Strategy) -> list[float]:
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
    """The largest differences of losses, weights, each replica's buffers and predictions."""
    ddp, by_hand = Ddp(net, [CPU]), Replicas(net, [CPU] * world_size)
    losses = zip(losses_of(ddp), losses_of(by_hand), strict=True)
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


def tell_each_other(rank: int) -> dict[str, object]:
    """What crosses the ranks' borders, as rank 0 sees it."""
    strategy = Ddp(nets()["linear"], [CPU])
    sent = [strategy.furthest(content if rank == 0 else None, 0) for content in (b"abc\x00", None)]
    sent.append(strategy.furthest(bytes([rank]) * (rank + 1), rank))  # each has got further
    last = strategy.num_processes - 1
    shares = torch.zeros(9).index_fill_(0, strategy.share(torch.arange(9)), 1)
    facts: dict[str, object] = {
        "furthest": sent == [b"abc\x00", None, bytes([last]) * (last + 1)],
        "largest": strategy.largest(rank - 7),
        "any": [strategy.any(rank == 1), strategy.any(False)],
        "shares": strategy.total(shares).tolist(),
    }
    strategy.close()
    check_ranks_agree("the same")
    try:
        check_ranks_agree(f"rank {min(rank, 1)}")
    except DistributedError as error:
        facts["disagree"] = str(error)
    return facts


def stop_together(rank: int, world_size: int) -> dict[str, object]:
    """Ranks that measure different times, and of which only the second is told to stop."""
    measured = steps.steps_between
    steps.steps_between = lambda ask_s, step_s, scale: (  # type: ignore[assignment]
        2 + rank if measured(ask_s, step_s, scale) else 0
    )
    strategy = Ddp(nets()["batch_norm"], [CPU], recipe(batch_size=6, lr=0.1))
    before = strategy.state()
    stepper = Stepper(strategy, batch(60))
    after = strategy.state()
    taken: list[int] = []
    losses = torch.zeros(10, dtype=torch.float64)
    done = stepper.take(
        torch.arange(60).split(6),
        [0.1] * 10,
        losses,
        on_step=taken.append,
        stopping=lambda: rank == 1 and len(taken) >= world_size,
    )
    found = torch.zeros(world_size, 3)
    found[rank] = torch.tensor([stepper.ask_every, done, len(taken)])
    warm_up = [difference(before["params"], after["params"])]
    pairs = zip(before["buffers"], after["buffers"], strict=True)
    warm_up += [difference(one, other) for one, other in pairs]
    strategy.close()
    steps.steps_between = measured
    return {"ranks": strategy.total(found).tolist(), "warm_up": max(warm_up)}


def found_by_rank(device: torch.device) -> dict[str, object]:
    rank, world_size = dist.get_rank(), dist.get_world_size()
    return {
        "nets": {name: compare(net, world_size) for name, net in nets().items()},
        "facts": tell_each_other(rank),
        "stop": stop_together(rank, world_size),
    }
