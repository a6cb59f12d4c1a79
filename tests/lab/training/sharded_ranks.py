"""Training in shards on several devices and processes, for tests/lab/training/test_sharded.py.

`python -m tests.lab.training.sharded_ranks FILE NET CASE...` trains NET once for each CASE, `8` for
eight ranks or `4-2-1` for four that take a step, two that take the next one, and one that takes the
others, and writes the hashes of what came out to FILE.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from lab.nets.models import MODELS
from lab.training.loop import Plan, Progress, predict, train
from lab.training.steps import Stepper
from lab.training.strategies.base import Recipe, Strategy
from lab.training.strategies.sharded import Sharded, ShardedProcesses
from tests.lab.parallel.forked_ranks import CPU, run_ranks
from tests.lab.training.strategy_ranks import batch

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


def run_rank(file: Path, name: str, steps: int | None) -> None:
    state = torch.load(file, weights_only=True) if file.exists() else None
    strategy = start(name, 1, ShardedProcesses)
    is_first = strategy.is_first
    found = go_on(strategy, name, state, steps)
    if is_first:
        torch.save(found, file)


def run_case(file: Path, name: str, world_sizes: Sequence[int]) -> str:
    """The hash of a run that as many ranks began, others went on with, and the last ones ended.

    Raises:
        RuntimeError: a rank failed.
    """
    file.unlink(missing_ok=True)
    for world_size in world_sizes[:-1]:
        if run_ranks(world_size, partial(run_rank, file, name, 1)):
            raise RuntimeError(f"a rank of {world_size} failed")
    if run_ranks(world_sizes[-1], partial(run_rank, file, name, None)):
        raise RuntimeError(f"a rank of {world_sizes[-1]} failed")
    return hash_of(torch.load(file, weights_only=True))


if __name__ == "__main__":
    result, net = Path(sys.argv[1]), sys.argv[2]
    cases = {words: [int(count) for count in words.split("-")] for words in sys.argv[3:]}
    state_file = result.with_suffix(".pt")
    hashes = {words: run_case(state_file, net, counts) for words, counts in cases.items()}
    result.write_text(json.dumps(hashes))
