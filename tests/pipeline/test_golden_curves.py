"""Losses of short runs on real images, at learning rates so low that rounding does not show.

They reveal what no other test would: a schedule that stands still, a step that is too small,
images that are shifted twice.
"""

import pytest
import torch

from lab.data.datasets import dataset_name, read_fashion_mnist
from lab.data.images import to_tensors
from lab.nets.models import MODELS
from lab.training.loop import train
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
from tests.helpers import recipe

pytestmark = pytest.mark.slow
IMAGES = 2000
RECIPES = {
    "the notes' LeNet, by SGD": {"net": "lenet_he", "lr": 0.02},
    "a record's net, by all that its recipe has": {
        "net": "convnet",
        "lr": 0.003,
        "optimizer": "nesterov",
        "label_smoothing": 0.1,
        "weight_decay": 5e-4,
        "schedule": "one_cycle",
        "augment": "shift",
    },
}
LOSSES = {  # means of each epoch; the fourth digit depends on the CPU's instructions and threads
    "the notes' LeNet, by SGD": [1.8612, 1.2466, 1.0260],
    "a record's net, by all that its recipe has": [1.9084, 1.2411, 1.1321],
}


@pytest.mark.parametrize("name", RECIPES)
def test_the_losses_of_the_first_epochs_follow_the_golden_curve(first_run, name):
    root = first_run / "data"
    if dataset_name(root) != "fashion-mnist":
        pytest.skip("needs the data")
    run = recipe(batch_size=64, num_epochs=len(LOSSES[name]), **RECIPES[name])
    images = to_tensors(read_fashion_mnist("train", root).first(IMAGES))
    net = MODELS[run.net](torch.Generator().manual_seed(0))
    model, step = model_and_step(net, [torch.device("cpu")], run)
    *_, last = train(Trainer(model, step, images), images, seed=0)
    model.close()
    assert [e.train_loss for e in last.epochs] == pytest.approx(LOSSES[name], rel=1e-3)
