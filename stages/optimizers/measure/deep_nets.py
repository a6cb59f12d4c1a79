"""Many small deep networks trained at once: AdaGrad against RMSProp, which forgets."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lab.data.datasets import Split
from lab.data.images import Images, small_images
from lab.data.order import shuffled
from lab.optim import update_rules
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, curve, line
from stages.optimizers.measure import names
from stages.optimizers.measure.params import DeepNetParams

SIDE = 14  # pixels
WIDTHS = (SIDE * SIDE, 64, 64, 64, 10)
NUM_CHOOSING = 3  # seeds that choose a rule's rate for the others
RATES: dict[str, tuple[Callable[[Tensor], UpdateRule], tuple[float, ...]]] = {
    names.ADAGRAD: (update_rules.adagrad, (0.003, 0.01, 0.03, 0.1, 0.3)),
    names.RMSPROP: (update_rules.rmsprop, (0.0001, 0.0003, 0.001, 0.003, 0.01)),
}


def deep_net_accuracies(
    train: Split, test: Split, params: DeepNetParams, seed: int
) -> Iterator[Curve]:
    """Test accuracy against the rate, over the choosing seeds, and of the others at the best."""
    cpu = torch.device("cpu")
    sets = small_images(train, SIDE, cpu), small_images(test, SIDE, cpu)
    for name, (make_rule, rates) in RATES.items():
        tried = torch.tensor(rates).repeat_interleave(NUM_CHOOSING)
        choosing = [seed + i for i in range(NUM_CHOOSING)] * len(rates)
        found = accuracies(make_rule, tried, choosing, *sets, params)
        by_rate = found.reshape(len(rates), NUM_CHOOSING)
        yield curve(names.DEEP_NETS, name, rates, list(by_rate))
        best = torch.full([params.num_seeds], rates[int(np.median(by_rate, 1).argmax())])
        others = [seed + NUM_CHOOSING + i for i in range(params.num_seeds)]
        found = accuracies(make_rule, best, others, *sets, params)
        yield line(names.DEEP_NET_ENDS, name, others, found)


def accuracies(
    make_rule: Callable[[Tensor], UpdateRule],
    rates: Tensor,
    seeds: list[int],
    train: Images,
    test: Images,
    params: DeepNetParams,
) -> np.ndarray:
    """The share of test images (models,) that each model labels correctly after its steps.

    A model has a rate and a seed, which sets its weights and its batches.
    """
    rule = make_rule(rates[:, None, None])
    weights = [p.requires_grad_() for p in _initial(seeds)]
    states = [rule.init(p.detach()) for p in weights]
    orders = torch.stack(
        [shuffled(len(train.y), torch.Generator().manual_seed(seed)) for seed in seeds]
    )
    for step in range(params.steps):
        first = step * params.batch_size
        batch = train.at(orders[:, torch.arange(first, first + params.batch_size) % len(train.y)])
        logits = _forward(batch.X.flatten(2), weights)
        # the sum over models: each one's gradient is its own loss's
        loss = F.cross_entropy(logits.flatten(0, 1), batch.y.flatten()) * len(seeds)
        gradients = torch.autograd.grad(loss, weights)
        stepped = [
            rule.update(p.detach(), g, state)
            for p, g, state in zip(weights, gradients, states, strict=True)
        ]
        weights, states = [p.requires_grad_() for p, _ in stepped], [s for _, s in stepped]
    with torch.no_grad():
        answers = _forward(test.X.flatten(1)[None], weights).argmax(-1)
    return np.asarray((answers == test.y).double().mean(1))


def _initial(seeds: list[int]) -> list[Tensor]:
    """Weights N(0, 2 / fan-in) (models, in, out) and zero biases (models, 1, out) by layer."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    params = []
    for fan_in, fan_out in pairwise(WIDTHS):
        random = [torch.randn(fan_in, fan_out, generator=g) for g in generators]
        params += [torch.stack(random) * (2 / fan_in) ** 0.5, torch.zeros(len(seeds), 1, fan_out)]
    return params


def _forward(X: Tensor, params: list[Tensor]) -> Tensor:
    """The logits (models, n, 10) of all models for X (models or 1, n, 196)."""
    for i in range(0, len(params), 2):
        X = (F.relu(X) if i else X) @ params[i] + params[i + 1]
    return X
