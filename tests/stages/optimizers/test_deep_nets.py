import numpy as np
import torch

from lab.data import synthetic
from lab.data.datasets import Split
from lab.data.images import small_images
from lab.optim import update_rules
from stages.optimizers.measure.deep_nets import SIDE, accuracies
from stages.optimizers.measure.params import DeepNetParams

CPU = torch.device("cpu")
PARAMS = DeepNetParams(num_seeds=2, steps=30, batch_size=16)


def test_nets_trained_at_once_are_each_trained_alone_and_learn():
    train, test = (
        small_images(Split(images, labels.astype(np.int64)), SIDE, CPU)
        for images, labels in (synthetic.fashion(400, 0), synthetic.fashion(200, 1))
    )
    rates, seeds = torch.tensor([0.03, 0.001]), [4, 5]
    together = accuracies(update_rules.adagrad, rates, seeds, train, test, PARAMS)
    alone = [
        accuracies(update_rules.adagrad, rates[i : i + 1], seeds[i : i + 1], train, test, PARAMS)[0]
        for i in range(2)
    ]
    assert np.abs(together - alone).max() < 0.03
    assert together[0] > 0.4
    assert together[0] > together[1], "too small a rate"
