"""Update rules of book sections 12.3 to 12.10 as pairs of pure functions.

`init(x) -> state`, `update(x, g, state) -> x, state`. A rule is a value with its hyper-parameters
inside. It keeps no state of its own, changes nothing in place and uses arithmetic only: the same
rule runs on floats, numpy arrays and torch tensors. A hyper-parameter may be an array too, so that
one call steps a whole sweep of rates, seeds or starting points.

`epsilon` sits inside the square root or beside it; the book and torch disagree on where, so rules
say which (`inside`: divide by sqrt(s + eps); otherwise by sqrt(s) + eps).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

# a float, a numpy array or a torch tensor; a gradient and each part of a state are the same kind
X = Any
State = tuple[X, ...]


class UpdateRule(NamedTuple):
    """How to start, and how to step from position, gradient and state to the next position."""

    init: Callable[[X], State]
    update: Callable[[X, X, State], tuple[X, State]]


def _zeros(count: int) -> Callable[[X], State]:
    return lambda x: tuple(0.0 * x for _ in range(count))


def _zeros_and_clock(count: int) -> Callable[[X], State]:
    return lambda x: (*(0.0 * x for _ in range(count)), 0)


def _sign(x: X) -> X:
    """-1, 0 or 1, in x's own kind."""
    if isinstance(x, float | int):
        return math.copysign(1.0, x) if x else 0.0
    return x / (abs(x) + (x == 0))


def _root(s: X, eps: X, inside: bool) -> X:
    return (s + eps) ** 0.5 if inside else s**0.5 + eps


def gd(lr: X) -> UpdateRule:
    """Gradient descent; on minibatch gradients it is SGD (12.3, 12.4).

    x <- x - lr g
    """
    return UpdateRule(_zeros(0), lambda x, g, state: (x - lr * g, state))


def decaying_gd(lr: X) -> UpdateRule:
    """Gradient descent whose rate falls with the square root of the step (12.4, 12.7.1).

    x <- x - lr t^(-1/2) g
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        t = state[0] + 1
        return x - lr * t**-0.5 * g, (t,)

    return UpdateRule(_zeros_and_clock(0), update)


def counting_gd(lr: X) -> UpdateRule:
    """Gradient descent whose rate falls, for each coordinate, with how often it was seen (12.7.1).

    s <- s + [g is not 0];  x <- x - lr s^(-1/2) g
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        s = state[0] + (g != 0)
        return x - lr * (s + (s == 0)) ** -0.5 * g, (s,)

    return UpdateRule(_zeros(1), update)


def momentum(lr: X, beta: X) -> UpdateRule:
    """Heavy ball as the book and torch write it (12.6): a sum of gradients, not an average.

    v <- beta v + g;  x <- x - lr v
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v = beta * state[0] + g
        return x - lr * v, (v,)

    return UpdateRule(_zeros(1), update)


def nesterov(lr: X, beta: X) -> UpdateRule:
    """Nesterov's momentum in torch's form, with the gradient at hand (Sutskever et al. 2013).

    v <- beta v + g;  x <- x - lr (g + beta v)
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v = beta * state[0] + g
        return x - lr * (g + beta * v), (v,)

    return UpdateRule(_zeros(1), update)


def adagrad(lr: X, eps: float = 1e-6, inside: bool = True) -> UpdateRule:
    """AdaGrad (12.7): each coordinate's rate falls with the sum of its squared gradients.

    s <- s + g^2;  x <- x - lr g / sqrt(s + eps)
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        s = state[0] + g * g
        return x - lr * g / _root(s, eps, inside), (s,)

    return UpdateRule(_zeros(1), update)


def rmsprop(lr: X, gamma: float = 0.9, eps: float = 1e-6, inside: bool = True) -> UpdateRule:
    """RMSProp (12.8): AdaGrad with a leaky average instead of a sum.

    s <- gamma s + (1 - gamma) g^2;  x <- x - lr g / sqrt(s + eps)
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        s = gamma * state[0] + (1 - gamma) * g * g
        return x - lr * g / _root(s, eps, inside), (s,)

    return UpdateRule(_zeros(1), update)


def adadelta(rho: float = 0.9, eps: float = 1e-5, lr: X = 1.0) -> UpdateRule:
    """Adadelta (12.9): the rate is the ratio of two leaky averages, of past steps and of gradients.

    s <- rho s + (1 - rho) g^2;  d = sqrt(delta + eps) / sqrt(s + eps) g;  x <- x - lr d;
    delta <- rho delta + (1 - rho) d^2
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        s = rho * state[0] + (1 - rho) * g * g
        d = ((state[1] + eps) / (s + eps)) ** 0.5 * g
        return x - lr * d, (s, rho * state[1] + (1 - rho) * d * d)

    return UpdateRule(_zeros(2), update)


def adam(
    lr: X,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: X = 1e-6,
    weight_decay: float = 0.0,
    inside: bool = False,
    correct: bool = True,
) -> UpdateRule:
    """Adam (12.10), bias-corrected, epsilon beside the root.

    With `weight_decay` it is AdamW (Loshchilov, Hutter 2019); without `correct` its averages keep
    the bias of their start at 0.

    v <- b1 v + (1 - b1) g;  s <- b2 s + (1 - b2) g^2;
    x <- x - lr wd x - lr (v / (1 - b1^t)) / (sqrt(s / (1 - b2^t)) + eps)
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v, s, t = (
            beta1 * state[0] + (1 - beta1) * g,
            beta2 * state[1] + (1 - beta2) * g * g,
            state[2] + 1,
        )
        v_share, s_share = (1 - beta1**t, 1 - beta2**t) if correct else (1.0, 1.0)
        step = (v / v_share) / _root(s / s_share, eps, inside)
        decayed = x - lr * weight_decay * x if weight_decay else x
        return decayed - lr * step, (v, s, t)

    return UpdateRule(_zeros_and_clock(2), update)


def adam_from_first_gradient(
    lr: X, beta1: float = 0.9, beta2: float = 0.999, eps: X = 1e-6
) -> UpdateRule:
    """Adam without its correction, whose averages start at the first gradient and its square."""
    rule = adam(lr, beta1, beta2, eps, correct=False)

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        is_first = state[2] == 0
        return rule.update(x, g, (g, g * g, 0) if is_first else state)

    return UpdateRule(rule.init, update)


def adamw(
    lr: X, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, weight_decay: float = 0.01
) -> UpdateRule:
    """AdamW with torch's defaults: Adam whose weight decay bypasses the gradient."""
    return adam(lr, beta1, beta2, eps, weight_decay)


def yogi(lr: X, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-3) -> UpdateRule:
    """Yogi (12.10.3): Adam whose second moment moves by a bounded amount per step.

    So a rare large gradient cannot flood it.

    s <- s + (1 - b2) sign(g^2 - s) g^2; the rest as Adam
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v, t = beta1 * state[0] + (1 - beta1) * g, state[2] + 1
        s = state[1] + (1 - beta2) * _sign(g * g - state[1]) * g * g
        step = (v / (1 - beta1**t)) / ((s / (1 - beta2**t)) ** 0.5 + eps)
        return x - lr * step, (v, s, t)

    return UpdateRule(_zeros_and_clock(2), update)


def lars(lr: X, beta: float = 0.9, trust: float = 0.001, weight_decay: float = 0.0) -> UpdateRule:
    """LARS (You, Gitman, Ginsburg 2017): momentum whose steps keep pace with a layer's weights.

    Each call is one layer: its rate is scaled by the ratio of the norms of weights and gradient, so
    that a large batch's rate suits all layers. Where either norm is 0, as of biases at their start,
    the ratio counts as 1.

    r = |x| / (|g| + wd |x|);  v <- beta v + lr trust r (g + wd x);  x <- x - v
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        weights, gradient = _norm(x), _norm(g)
        some = weights * gradient > 0
        ratio = weights / (gradient + weight_decay * weights) if some else 1.0
        v = beta * state[0] + lr * trust * ratio * (g + weight_decay * x)
        return x - v, (v,)

    return UpdateRule(_zeros(1), update)


def _norm(x: X) -> X:
    return abs(x) if isinstance(x, float | int) else (x * x).sum() ** 0.5


def trace(rule: UpdateRule, gradient: Callable[[X], X], x: X, num_steps: int) -> list[X]:
    """The positions of `num_steps` steps from x, x itself first."""
    state, positions = rule.init(x), [x]
    for _ in range(num_steps):
        x, state = rule.update(x, gradient(x), state)
        positions.append(x)
    return positions
