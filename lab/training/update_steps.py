"""Training steps: plain SGD, other optimizers, and stale gradients."""

from collections import deque
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from lab.data.images import Images
from lab.optim.update_rules import RULES, UpdateRule
from lab.parallel.replicas import Loss, Update, cross_entropy, forward_backward, grad_of, sgd
from lab.training.run_params import RunParams

# images per forward pass: larger pieces exceed the caches, and a batch's loss is a sum over pieces
PIECE = 256
# takes a step on a batch's mean loss at a rate; returns the summed loss before it (a scalar)
BatchStep = Callable[[nn.Module, Images, float], Tensor]


def add_gradients(net: nn.Module, batch: Images, loss: Loss = cross_entropy) -> Tensor:
    """Add the gradient of a batch's summed loss, computed in pieces; return the loss."""
    pieces = zip(batch.X.split(PIECE), batch.y.split(PIECE), strict=True)
    return torch.stack([forward_backward(net, X, y, loss=loss) for X, y in pieces]).sum()


def sgd_step(net: nn.Module, batch: Images, lr: float, loss: Loss = cross_entropy) -> Tensor:
    summed = add_gradients(net, batch, loss)
    sgd(net.parameters(), lr, len(batch.y))
    return summed


class OptimizerStep:
    """Updates by an update rule, with a state per parameter of a net."""

    def __init__(
        self,
        params: Iterable[Tensor],
        rule_of: Callable[[Tensor, float], UpdateRule],
        weight_decay: float = 0,
    ) -> None:
        """Create states for `params`; `rule_of` makes the rule for a parameter and a step's rate.

        Weight decay adds `weight_decay` times the tensor to the gradients of weights, i.e. of
        tensors with several dimensions.
        """
        self._rule_of, self._weight_decay = rule_of, weight_decay
        self.states = [rule_of(p, 1.0).init(p.detach()) for p in params]

    def __call__(self, params: Iterable[Tensor], lr: float, batch_size: int) -> None:
        """Update `params` in place on the summed gradients of a batch, and drop the gradients.

        The states are also updated in place, since a recorded step reads them where they were.
        """
        with torch.no_grad():
            for p, state in zip(params, self.states, strict=True):
                gradient = grad_of(p) / batch_size
                if self._weight_decay and p.ndim > 1:
                    gradient = gradient.add(p, alpha=self._weight_decay)
                x, new = self._rule_of(p, lr).update(p.detach(), gradient, state)
                p.copy_(x)
                for part, value in zip(state, new, strict=True):
                    part.copy_(value)
                p.grad = None


def updates_of(net: nn.Module, recipe: RunParams) -> Update:
    """Return a recipe's update of a net's parameters.

    Weight decay applies to weights only, not to biases, by the optimizer's own form if it has one.
    """
    rule, decay = RULES[recipe.optimizer], recipe.weight_decay
    if recipe.optimizer == "sgd" and not decay:
        return sgd
    settings = {"beta": recipe.momentum} if rule.takes("beta") else {}
    if not rule.takes("weight_decay"):
        return OptimizerStep(net.parameters(), lambda p, lr: rule.make(lr, **settings), decay)

    def rule_of(p: Tensor, lr: float) -> UpdateRule:
        return rule.make(lr, **settings, weight_decay=decay if p.ndim > 1 else 0.0)

    return OptimizerStep(net.parameters(), rule_of)


class RuleSteps:
    """Training steps by an update rule."""

    def __init__(self, make_rule: Callable[[float], UpdateRule]) -> None:
        """Use the rule that `make_rule` makes for each step's rate."""
        self._make_rule = make_rule
        self._update: OptimizerStep | None = None

    def __call__(self, net: nn.Module, batch: Images, lr: float) -> Tensor:
        self._update = self._update or OptimizerStep(
            net.parameters(), lambda p, rate: self._make_rule(rate)
        )
        loss = add_gradients(net, batch)
        self._update(net.parameters(), lr, len(batch.y))
        return loss


class StaleSteps:
    """Steps of SGD with gradients of the weights some steps ago, simulated in one process.

    This is what happens if `staleness` + 1 asynchronous workers take turns: each brings the
    gradient of the weights that it fetched at its last turn.
    """

    def __init__(self, staleness: int) -> None:
        """Use gradients that are `staleness` steps old."""
        self._staleness = staleness
        self._waiting: deque[list[Tensor]] = deque()

    def __call__(self, net: nn.Module, batch: Images, lr: float) -> Tensor:
        """Compute a batch's gradient, and apply the gradient from `staleness` steps ago."""
        params = list(net.parameters())
        loss = add_gradients(net, batch)
        self._waiting.append([grad_of(p) for p in params])
        for p in params:
            p.grad = None
        if len(self._waiting) > self._staleness:
            with torch.no_grad():
                for p, gradient in zip(params, self._waiting.popleft(), strict=True):
                    p.sub_(gradient, alpha=lr / len(batch.y))
        return loss
