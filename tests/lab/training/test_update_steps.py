"""Steps: in pieces, with an update rule, with stale gradients."""

import pytest
import torch
import torch.nn.functional as F

from lab.data.images import Images
from lab.optim import update_rules
from lab.training import update_steps
from lab.training.short_training import SmallLeNet
from lab.training.update_steps import RuleSteps, StaleSteps, sgd_step
from tests.oracle import assert_close


def nets(count):
    return [SmallLeNet(torch.Generator().manual_seed(0), 14).double() for _ in range(count)]


def batches(count):
    generator = torch.Generator().manual_seed(1)
    return [
        Images(
            torch.rand(20, 1, 14, 14, generator=generator, dtype=torch.float64),
            torch.randint(10, (20,), generator=generator),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("piece", [7, 256])
def test_a_batch_in_pieces_takes_torchs_step_on_the_mean_loss(monkeypatch, piece):
    monkeypatch.setattr(update_steps, "PIECE", piece)
    net, expected = nets(2)
    optimizer = torch.optim.SGD(expected.parameters(), 0.1)
    [batch] = batches(1)
    F.cross_entropy(expected(batch.X), batch.y).backward()
    optimizer.step()
    sgd_step(net, batch, 0.1)
    assert_close(net, expected, rtol=1e-10, atol=1e-12)


def test_rule_steps_keep_the_rules_state():
    net, expected = nets(2)
    optimizer = torch.optim.SGD(expected.parameters(), 0.1, momentum=0.9)
    take = RuleSteps(lambda lr: update_rules.momentum(lr, 0.9))
    for batch in batches(3):
        take(net, batch, 0.1)
        optimizer.zero_grad()
        F.cross_entropy(expected(batch.X), batch.y).backward()
        optimizer.step()
    assert_close(net, expected, rtol=1e-10, atol=1e-12)


def test_stale_steps_apply_gradients_of_earlier_weights():
    net, expected = nets(2)
    some = batches(4)
    take = StaleSteps(2)
    for batch in some:
        take(net, batch, 0.1)
    # by hand: the first three gradients are of the initial weights, two of them are applied
    initial = list(expected.parameters())
    grads = [torch.autograd.grad(F.cross_entropy(expected(b.X), b.y), initial) for b in some[:2]]
    with torch.no_grad():
        for gradient in grads:
            for p, g in zip(initial, gradient, strict=True):
                p.sub_(0.1 * g)
    assert_close(net, expected, rtol=1e-10, atol=1e-12)


def test_steps_without_staleness_are_plain_sgd():
    net, expected = nets(2)
    take = StaleSteps(0)
    for batch in batches(3):
        take(net, batch, 0.1)
        sgd_step(expected, batch, 0.1)
    assert_close(net, expected, rtol=1e-10, atol=1e-12)
