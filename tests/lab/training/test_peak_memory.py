"""The memory of a training step: predicted, and counted live."""

import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lab.nets.memory import least_step_bytes
from lab.nets.models import MODELS
from lab.training.steps.by_name import model_and_step
from tests.helpers import recipe

CPU = torch.device("cpu")
GIB = 2**30


def make(name):
    return MODELS[name](torch.Generator().manual_seed(0))


class Live(TorchDispatchMode):
    """Bytes of the live tensors that were made within the context, and their peak."""

    def __init__(self):
        super().__init__()
        self.now = self.peak = 0
        self._seen = weakref.WeakSet()

    def _free(self, num_bytes):
        self.now -= num_bytes

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        for memory in memories((args, kwargs)):
            self._seen.add(memory)  # what was there before does not count
        result = function(*args, **(kwargs or {}))
        for memory in set(memories(result)).difference(self._seen):
            self._seen.add(memory)
            self.now += memory.nbytes()
            weakref.finalize(memory, self._free, memory.nbytes())
        self.peak = max(self.peak, self.now)
        return result


def memories(tree):
    return [leaf.untyped_storage() for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def live_peak(name, batch_size, precision):
    """Return the peak bytes of a real training step on the CPU."""
    net = make(name)
    with Live() as live:
        model, step = model_and_step(net, [CPU], recipe(precision=precision))
        X = torch.zeros(batch_size, 28, 28, dtype=torch.uint8)
        y = torch.zeros(batch_size, dtype=torch.int64)
        step((X, y), torch.arange(batch_size), 0.1, batch_size)
        model.close()
    return live.peak


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("name", MODELS)
def test_no_real_step_takes_less_than_predicted(name, precision, one_thread):
    assert least_step_bytes(make(name), 4, precision) <= live_peak(name, 4, precision)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
def test_a_gpus_peak_is_between_the_prediction_and_8_gib():
    gpu = torch.device("cuda", 0)
    net = make("resnet18")
    torch.cuda.reset_peak_memory_stats(gpu)
    model, step = model_and_step(net, [gpu], recipe())
    X = torch.zeros(256, 28, 28, dtype=torch.uint8, device=gpu)
    y = torch.zeros(256, dtype=torch.int64, device=gpu)
    step((X, y), torch.arange(256, device=gpu), 0.1, 256)
    assert least_step_bytes(net, 256) <= torch.cuda.max_memory_allocated(gpu) <= 8 * GIB
    model.close()
