"""The times when gradients are ready, by a clock that counts its readings."""

import torch
import torch.nn.functional as F

from lab.nets.models import LENET_NAMES, MODELS
from lab.parallel import gradient_times

CPU = torch.device("cpu")


def test_the_layers_next_to_the_loss_have_their_gradients_first(monkeypatch):
    readings = iter(range(1000))
    monkeypatch.setattr(gradient_times, "_read", lambda device: float(next(readings)))
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    X, y = torch.rand(4, 1, 28, 28), torch.randint(10, (4,))

    def loss() -> torch.Tensor:
        return F.cross_entropy(net(X), y)

    first, second = gradient_times.ready_times(net, loss, 2, CPU)
    for ready in (first, second):
        assert sorted(ready.values()) == [1e3 * i for i in range(1, 9)], "one reading each"
        layers = [int(name[1]) for name in sorted(LENET_NAMES, key=ready.__getitem__)]
        assert layers == [4, 4, 3, 3, 2, 2, 1, 1]
    before = next(readings)
    loss().backward()
    assert next(readings) == before + 1, "nobody looks any longer"
