import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from lab.nets.lenet import LENET_SHAPES, lenet
from stages.bench_input.measure.python_overhead import LR, ONE_CHANNEL, copies, step

CPU = torch.device("cpu")


def batch(count):
    generator = torch.Generator().manual_seed(1)
    return torch.rand(count, 1, 28, 28, generator=generator), torch.arange(count) % 10


def weights(shapes):
    generator = torch.Generator().manual_seed(0)
    return [0.3 * torch.randn(shape, generator=generator) for shape in shapes]


def test_a_step_on_two_shards_is_a_step_on_the_batch():
    params = [p.double() for p in weights(ONE_CHANNEL)]
    X, y = batch(5)
    X = X.double()
    replicas = copies(params, [CPU, CPU])
    step((X, y), replicas, [CPU, CPU])
    whole = [p.clone().requires_grad_() for p in params]
    F.cross_entropy(lenet(X, whole), y).backward()
    for p, *same in zip(whole, *replicas, strict=True):
        for replica in same:
            torch.testing.assert_close(replica, p - LR * p.grad)


def test_copies_share_nothing():
    params = weights(ONE_CHANNEL)
    first, second = copies(params, [CPU, CPU])
    tensors = [*params, *first, *second]
    assert len({t.data_ptr() for t in tensors}) == 3 * len(ONE_CHANNEL)


def test_a_step_of_the_calls_alone_calls_what_a_whole_one_does():
    def operations(shapes, count):
        called = []

        class Listen(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                called.append(str(func))
                return func(*args, **(kwargs or {}))

        replicas = copies(weights(shapes), [CPU, CPU])
        with Listen():
            step(batch(count), replicas, [CPU, CPU])
        return called

    whole, alone = operations(LENET_SHAPES, 32), operations(ONE_CHANNEL, 2)
    assert "aten.convolution.default" in whole
    free = ("aten.clone.default", "aten.t.default")  # one channel is channels-last as it lies
    assert [each for each in alone if each not in free] == [
        each for each in whole if each not in free
    ]
