"""Training in shards on several devices and processes, for test_sharded.py."""

import hashlib
import io
from typing import Any

import torch

from lab.nets.models import MODELS
from lab.training.loop import predict
from lab.training.model import Model, RowsStep
from lab.training.processes import Alone, Group
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
from tests.helpers import recipe
from tests.lab.training.strategy_ranks import CPU, batch, part_of_a_run

NUM_SHARDS = 8
# an epoch's last batch is smaller, and its shards are not all equal
NUM_IMAGES = {"lenet_he": 150, "convnet": 27, "resnet18": 27}
SHARDED = recipe(shards=NUM_SHARDS, lr=0.05, num_epochs=2, schedule="one_cycle", augment="shift")
SMALL = SHARDED.but(batch_size=16, label_smoothing=0.1)
RECIPES = {
    "lenet_he": SHARDED.but(batch_size=64, optimizer="nesterov", weight_decay=5e-4),
    "convnet": SMALL,
    "resnet18": SMALL.but(num_epochs=1),
}


def start(name: str, num_devices: int, processes: Alone | None = None) -> tuple[Model, RowsStep]:
    """Return the model and step of an untrained net."""
    net = MODELS[name](torch.Generator().manual_seed(0))
    return model_and_step(net, [CPU] * num_devices, RECIPES[name], processes)


def go_on(
    model: Model,
    step: RowsStep,
    name: str,
    state: dict[str, Any] | None = None,
    steps: int | None = None,
) -> dict[str, Any]:
    """Train from a state for `steps` steps or to the end; return the new state."""
    test_set = batch(33)
    found = part_of_a_run(Trainer(model, step, batch(NUM_IMAGES[name])), test_set, state, steps)
    found["logits"] = predict(model, test_set[0], batch_size=3)
    model.close()
    return found


def hash_of(state: dict[str, Any]) -> str:
    """Hash weights, running statistics, the rule's state, losses, accuracies and logits."""
    digest = hashlib.sha256()
    tensors = [*state["params"].values(), *(b for each in state["buffers"] for b in each.values())]
    tensors += [part for each in state["updates"] for part in each] + [state["logits"]]
    for tensor in tensors:
        digest.update(tensor.contiguous().numpy().tobytes())
    digest.update(repr([e[:3] for e in state["epochs"]]).encode())
    return digest.hexdigest()[:16]


def go_on_as_a_rank(device: torch.device, name: str, saved: bytes, steps: int | None) -> bytes:
    """Do the same as one of several ranks; both states are bytes that `torch.save` wrote."""
    state = loaded(saved) if saved else None
    found = io.BytesIO()
    torch.save(go_on(*start(name, 1, Group()), name, state, steps), found)
    return found.getvalue()


def loaded(saved: bytes) -> dict[str, Any]:
    state: dict[str, Any] = torch.load(io.BytesIO(saved), weights_only=True)
    return state
