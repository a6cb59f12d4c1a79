"""One of several ranks: steps of `ddp` compared with those of `replicas`."""

import time
from itertools import count, islice
from types import SimpleNamespace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lab.core.errors import DistributedError
from lab.nets.models import MODELS
from lab.parallel.process_group import check_ranks_agree
from lab.training import loop
from lab.training.loop import Progress, predict, train
from lab.training.model import Model, RowsStep
from lab.training.processes import Group
from lab.training.run_params import NOTES
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
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


def part_of_a_run(
    trainer: Trainer,
    test_set: tuple[Tensor, Tensor],
    state: dict[str, Any] | None,
    steps: int | None,
) -> dict[str, Any]:
    """Train from a state for `steps` steps or to the end; return the new state."""
    progress = Progress()
    if state:
        trainer.model.load_state(state)
        progress = Progress.from_state(state)
    before, loop.SAVE_EVERY_S = loop.SAVE_EVERY_S, 0.0 if steps else 3600.0
    reached = list(islice(train(trainer, test_set, 0, progress), steps))[-1]
    loop.SAVE_EVERY_S = before
    return {**trainer.model.state(), **reached.state()}


def by_ddp(net: nn.Module) -> tuple[Model, RowsStep]:
    return model_and_step(net, [CPU], NOTES.but(strategy="ddp"), Group())


def losses_of(model: Model, step: RowsStep) -> list[float]:
    losses = []
    for X, y in map(batch, SIZES):
        loss = step((X, y), model.share(torch.arange(len(X))), 0.1, len(X))
        losses.append(float(model.processes.total(loss.double())))
    return losses


def difference(a: dict[str, Tensor], b: dict[str, Tensor]) -> float:
    return max(float((a[name].double() - b[name].double()).abs().max()) for name in a)


def compare(net: nn.Module, world_size: int) -> dict[str, float]:
    """Return the largest differences of losses, weights, replicas' buffers and predictions."""
    (ddp, ddp_step), (by_hand, step) = by_ddp(net), model_and_step(net, [CPU] * world_size, NOTES)
    losses = zip(losses_of(ddp, ddp_step), losses_of(by_hand, step), strict=True)
    state, expected = ddp.state(), by_hand.state()
    images = batch(25)[0]
    buffers = zip(state["buffers"], expected["buffers"], strict=True)
    found = {
        "loss": max(abs(a - b) for a, b in losses),
        "weights": difference(state["params"], expected["params"]),
        "buffers": max(difference(a, b) if a else 0.0 for a, b in buffers),
        "prediction": float((predict(ddp, images) - predict(by_hand, images)).abs().max()),
    }
    again, _ = by_ddp(net)
    again.load_state(state)
    found["loaded"] = max(difference(again.state()[key], state[key]) for key in ("params",))
    for model in (ddp, by_hand, again):
        model.close()
    return found


def tell_each_other(rank: int) -> dict[str, object]:
    """Exchange data between the ranks; return what rank 0 sees."""
    group = Group()
    last, own_content = group.world_size - 1, bytes([rank]) * (rank + 1)
    latest = [
        group.latest_checkpoint(content, reached)
        for content, reached in (
            (b"abc\x00" if rank == 0 else None, 0),
            (None, 0),
            (own_content, rank),  # the last rank has the latest
            (own_content, last - rank),  # the first rank has it
        )
    ]
    own = group.share(torch.arange(9), group.world_size)
    facts: dict[str, object] = {
        "latest_checkpoint": latest == [b"abc\x00", None, bytes([last]) * (last + 1), b"\x00"],
        "largest": group.largest(rank - 7.5),
        "first": group.of_first(torch.tensor([rank])).tolist(),
        "gathered": torch.cat(group.gathered(torch.tensor([rank]))).tolist(),
        "shares": group.total(torch.zeros(9).index_fill_(0, own, 1)).tolist(),
    }
    check_ranks_agree("the same")
    try:
        check_ranks_agree(f"rank {min(rank, 1)}")
    except DistributedError as error:
        facts["disagree"] = str(error)
    return facts


def pause_together(rank: int) -> dict[str, object]:
    """Return where ranks yield if only the last rank's clock moves, by SAVE_EVERY_S per look."""
    looks, is_last = count(), rank == dist.get_world_size() - 1
    loop.time = SimpleNamespace(  # type: ignore[assignment]
        monotonic=lambda: next(looks) * loop.SAVE_EVERY_S if is_last else 0.0
    )
    batch_norm = nets()["batch_norm"]
    asked = recipe(batch_size=6, lr=0.1, num_epochs=2, strategy="ddp")
    model, step = model_and_step(batch_norm, [CPU], asked, Group())
    untrained = model.state()
    trainer = Trainer(model, step, batch(60))
    after = model.state()
    warm_up = [difference(untrained["params"], after["params"])]
    pairs = zip(untrained["buffers"], after["buffers"], strict=True)
    warm_up += [difference(one, other) for one, other in pairs]
    places = [progress.place for progress in train(trainer, batch(20), 0, Progress())]
    loop.time = time
    found = model.processes.gathered(torch.tensor(places))
    model.close()
    return {"places": [each.tolist() for each in found], "warm_up": max(warm_up)}


def found_by_rank(device: torch.device) -> dict[str, object]:
    rank, world_size = dist.get_rank(), dist.get_world_size()
    return {
        "nets": {name: compare(net, world_size) for name, net in nets().items()},
        "facts": tell_each_other(rank),
        "pause": pause_together(rank),
    }
