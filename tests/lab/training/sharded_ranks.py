"""Training in shards on several devices and processes, for test_sharded.py."""

import hashlib
import io
from typing import Any

import torch

from lab.nets.models import MODELS
from lab.training.loop import Plan, Progress, predict, train
from lab.training.steps import Stepper
from lab.training.strategies.base import Recipe, Strategy
from lab.training.strategies.sharded import Sharded, ShardedProcesses
from tests.lab.training.strategy_ranks import CPU, batch

NUM_SHARDS = 8
# images and batch size: an epoch's last batch is smaller, and its shards are not all equal
SIZES = {"lenet_he": (150, 64), "resnet18": (27, 16)}
RECIPES = {
    "lenet_he": Recipe(momentum=0.9, weight_decay=5e-4, num_shards=NUM_SHARDS),
    "resnet18": Recipe(num_shards=NUM_SHARDS, label_smoothing=0.1),
}


def start(name: str, num_devices: int, kind: type[Strategy] = Sharded) -> Strategy:
    """A net that nobody has trained."""
    return kind(MODELS[name](torch.Generator().manual_seed(0)), [CPU] * num_devices, RECIPES[name])


def go_on(
    strategy: Strategy, name: str, state: dict[str, Any] | None = None, steps: int | None = None
) -> dict[str, Any]:
    """Train from a state on, for so many steps or to the end; the state then."""
    num_images, batch_size = SIZES[name]
    train_set, test_set = batch(num_images), batch(33)
    progress, left = Progress(), steps if steps is not None else 10**9

    def count(images: int) -> None:
        nonlocal left
        left -= 1

    stepper = Stepper(strategy, train_set, batch_size, 0.05)
    stepper.ask_every = 1
    if state:
        strategy.load_state(state)
        progress = Progress.from_state(state)
    plan = Plan(batch_size, 0.05, 2, seed=0, schedule="one_cycle", augment="shift")
    *_, reached = train(stepper, test_set, plan, progress, count, lambda: left <= 0)
    assert steps is None or left == 0
    found = {**strategy.state(), **reached.state()}
    found["logits"] = predict(strategy, test_set[0], batch_size=3)
    strategy.close()
    return found


def hash_of(state: dict[str, Any]) -> str:
    """Of weights, running statistics, the rule's state, losses, accuracies and logits."""
    digest = hashlib.sha256()
    tensors = [*state["params"].values(), *(b for each in state["buffers"] for b in each.values())]
    tensors += [part for each in state["updates"] for part in each] + [state["logits"]]
    for tensor in tensors:
        digest.update(tensor.contiguous().numpy().tobytes())
    digest.update(repr([e[:3] for e in state["epochs"]]).encode())
    return digest.hexdigest()[:16]


def go_on_as_a_rank(device: torch.device, name: str, saved: bytes, steps: int | None) -> bytes:
    """The same in one of several processes, of and to what `torch.save` makes of a state."""
    state = loaded(saved) if saved else None
    found = io.BytesIO()
    torch.save(go_on(start(name, 1, ShardedProcesses), name, state, steps), found)
    return found.getvalue()


def loaded(saved: bytes) -> dict[str, Any]:
    state: dict[str, Any] = torch.load(io.BytesIO(saved), weights_only=True)
    return state
