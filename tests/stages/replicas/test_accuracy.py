"""Whole trainings over replicas: the book's is one device's, the rebinding one's replicas part."""

import pytest
import torch

from lab.data import synthetic
from stages.replicas.measure import accuracy
from stages.replicas.measure.by_hand import accuracy_percent
from stages.replicas.measure.names import IN_PLACE, ONE_DEVICE, REBINDING, replica_of
from stages.replicas.measure.params import AccuracyParams
from stages.replicas.measure.training_variants import lenet


def images(count):
    found, labels = synthetic.fashion(count, 0)
    return torch.from_numpy(found), torch.from_numpy(labels.astype("int64"))


def test_accuracies_by_replica_and_seed(monkeypatch):
    monkeypatch.setattr(accuracy, "BATCH_SIZE", 11)  # uneven shards
    # from the notes' weights nothing is learned in so few steps
    quick = {"lenet": lambda generator: lenet(generator.initial_seed()).net}
    monkeypatch.setattr(accuracy, "MODELS", quick)
    params = AccuracyParams(num_seeds=2, num_epochs=1, train_images=110, test_images=100)
    curves = list(accuracy.measure_accuracy(params, 2, images(120), images(120), seed=3))
    y = {c.series: c.y for c in curves}
    replicas = [replica_of(name, i) for name in (IN_PLACE, REBINDING) for i in (1, 2)]
    assert list(y) == [ONE_DEVICE, *replicas]
    assert all(list(c.x) == [3, 4] for c in curves), "seeds"
    assert list(y[replica_of(IN_PLACE, 1)]) == list(y[replica_of(IN_PLACE, 2)])
    assert y[ONE_DEVICE] == pytest.approx(y[replica_of(IN_PLACE, 1)], abs=2)
    assert list(y[replica_of(REBINDING, 2)]) != list(y[replica_of(REBINDING, 1)])
    assert y[ONE_DEVICE].min() > 15, "it learns"


def test_accuracy_is_the_share_of_right_labels():
    class Fixed(torch.nn.Module):
        def forward(self, X):
            return torch.nn.functional.one_hot(X[:, 0, 0].long(), 10)

    X = torch.zeros(1500, 28, 28, dtype=torch.uint8)
    X[:, 0, 0] = torch.arange(1500) % 10
    y = torch.where(torch.arange(1500) < 1200, X[:, 0, 0].long(), 10)
    assert accuracy_percent(Fixed(), (X, y)) == 80
