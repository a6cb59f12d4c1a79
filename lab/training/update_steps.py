"""Ways to take a step of training: plain SGD, other update rules, gradients that are stale."""

from collections import deque
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from lab.data.images import Images
from lab.optim.update_rules import State, UpdateRule
from lab.parallel.replicas import forward_backward, grad_of, sgd

# images of a batch that are computed at once: larger pieces leave the caches, and sums stay sums
PIECE = 256
# on the mean loss of a batch, at a rate; returns the summed loss before it (a scalar)
Step = Callable[[nn.Module, Images, float], Tensor]


def add_gradients(net: nn.Module, batch: Images) -> Tensor:
    """Add the gradient of a batch's summed loss, in pieces whose sums add up; return the loss."""
    pieces = zip(batch.X.split(PIECE), batch.y.split(PIECE), strict=True)
    return torch.stack([forward_backward(net, X, y) for X, y in pieces]).sum()


def sgd_step(net: nn.Module, batch: Images, lr: float) -> Tensor:
    """Take a step of plain SGD."""
    loss = add_gradients(net, batch)
    sgd(net.parameters(), lr, len(batch.y))
    return loss


class OptimizerStep:
    """Updates by an update rule, whose state they keep for each parameter of a net."""

    def __init__(self, make_rule: Callable[[float], UpdateRule], weight_decay: float = 0) -> None:
        """Updates by the rule that `make_rule` makes for each step's rate.

        To the gradients of tensors of several dimensions, which weights are, `weight_decay` times
        the tensor is added.
        """
        self._make_rule, self._weight_decay = make_rule, weight_decay
        self.states: list[State] = []  # begun at the first update

    def __call__(self, params: Iterable[Tensor], lr: float, batch_size: int) -> None:
        """Update `params` in place on the summed gradients of a batch, and drop these."""
        rule, listed = self._make_rule(lr), list(params)
        with torch.no_grad():
            self.states = self.states or [rule.init(p.detach()) for p in listed]
            for i, p in enumerate(listed):
                gradient = grad_of(p) / batch_size
                if self._weight_decay and p.ndim > 1:
                    gradient = gradient.add(p, alpha=self._weight_decay)
                x, self.states[i] = rule.update(p.detach(), gradient, self.states[i])
                p.copy_(x)
                p.grad = None


class RuleSteps:
    """Steps of an update rule."""

    def __init__(self, make_rule: Callable[[float], UpdateRule]) -> None:
        """Steps of the rule that `make_rule` makes for each step's rate."""
        self._update = OptimizerStep(make_rule)

    def __call__(self, net: nn.Module, batch: Images, lr: float) -> Tensor:
        """Take a step."""
        loss = add_gradients(net, batch)
        self._update(net.parameters(), lr, len(batch.y))
        return loss


class StaleSteps:
    """Steps of SGD whose gradients were computed on weights some steps ago, one process simulated.

    So it is where `staleness` + 1 asynchronous workers take turns: each brings the gradient of the
    weights that it fetched at its last turn.
    """

    def __init__(self, staleness: int) -> None:
        """Steps with gradients that are so many steps old."""
        self._staleness = staleness
        self._waiting: deque[list[Tensor]] = deque()

    def __call__(self, net: nn.Module, batch: Images, lr: float) -> Tensor:
        """Compute the gradient of a batch, and apply the one that has waited long enough."""
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
