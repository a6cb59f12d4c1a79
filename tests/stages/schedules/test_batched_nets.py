import itertools

import torch
import torch.nn.functional as F

from lab.data import synthetic
from lab.data.images import shrink
from stages.schedules import batched_nets


def images(count, seed):
    X, y = synthetic.fashion(count, seed)
    return shrink(torch.from_numpy(X), 14).flatten(1), torch.from_numpy(y).long()


TRAIN, TEST = images(256, 0), images(200, 1)


def run(seeds, rates, seed=0):
    return batched_nets.train(*TRAIN, *TEST, seeds, torch.tensor(rates), 64, seed)


def test_each_model_trains_as_if_alone():
    """Two models at once, against one of them written out with torch's own modules."""
    rates = [[0.1, 0.2]] * 4 + [[0.05, 0.1]] * 4
    outcome = run([3, 4], rates)
    W = [p[1] for p in batched_nets.initial([3, 4])]
    layers: list[torch.nn.Module] = []
    for fan_in, fan_out in itertools.pairwise(batched_nets.WIDTHS):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers[:-1])
    with torch.no_grad():
        for target, source in zip(net.parameters(), W, strict=True):
            target.copy_(source.T if source.shape[0] > 1 else source[0])
    generator, step = torch.Generator().manual_seed(0), 0
    for _ in range(2):
        order = torch.randperm(256, generator=generator)
        for rows in order.split(64):
            net.zero_grad()
            F.cross_entropy(net(TRAIN[0][rows]), TRAIN[1][rows]).backward()
            with torch.no_grad():
                for p in net.parameters():
                    p -= rates[step][1] * p.grad
            step += 1
    accuracy = (net(TEST[0]).argmax(1) == TEST[1]).double().mean()
    torch.testing.assert_close(outcome.accuracy[1], accuracy, atol=0.011, rtol=0)
    assert outcome.losses.shape == (2, 2)


def test_models_of_one_seed_and_rate_are_equal_and_repeat_bit_for_bit():
    rates = [[0.1, 0.1, 0.1]] * 8
    first, again = run([1, 1, 2], rates), run([1, 1, 2], rates)
    assert torch.equal(first.losses, again.losses)
    torch.testing.assert_close(first.losses[:, 0], first.losses[:, 1])
    assert not torch.equal(first.losses[:, 0], first.losses[:, 2])


def test_failing_is_infinite_or_no_better_than_a_constant_answer():
    learned = run([1, 1, 1], [[0.2, 1e6, 0.0]] * 40)
    assert learned.failed.tolist()[:2] == [False, True]
    assert learned.losses[-1, 0] < learned.losses[0, 0]
