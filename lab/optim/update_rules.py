"""Update rules of book sections 12.3 to 12.10 as pairs of pure functions, named in `RULES`.

The pair is `init(x) -> state` and `update(x, g, state) -> x, state`. A rule is a value that
contains its hyper-parameters. It has no state, changes nothing in place and uses only arithmetic.
So the same rule runs on floats, numpy arrays and torch tensors, even while a CUDA graph is
recorded. A hyper-parameter may also be an array: one call then steps a whole sweep of rates, seeds
or starting points.

A state is a tuple of values of x's type. For a tensor, they are tensors on its device, which are
saved, moved and compared like weights. Averages have x's shape; the clock is one number.

The book and torch disagree on where `epsilon` goes. With `inside`, rules divide by sqrt(s + eps),
otherwise by sqrt(s) + eps.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

X = Any  # a float, a numpy array or a torch tensor
State = tuple[X, ...]


BETA = 0.9  # default of rules with momentum


class Clock(NamedTuple):
    """The number of steps taken."""

    t: X


class Velocity(NamedTuple):
    """A sum of gradients that decay with age."""

    v: X


class Squares(NamedTuple):
    """A sum or an average of squared gradients; in `counting_gd`, how many were nonzero."""

    s: X


class SquaresAndSteps(NamedTuple):
    """Averages of squared gradients and of squared steps."""

    s: X
    delta: X


class Moments(NamedTuple):
    """Averages of gradients and of squared gradients, and the number of steps taken."""

    v: X
    s: X
    t: X


class UpdateRule(NamedTuple):
    """The initial state, and the step from position, gradient and state to the next ones."""

    init: Callable[[X], State]
    update: Callable[[X, X, State], tuple[X, State]]


def _zero(x: X) -> X:
    return 0.0 * x


def _no_steps(x: X) -> X:
    """Return a clock at 0: a number, or a scalar tensor on x's device."""
    return x.new_zeros(()).double() if hasattr(x, "new_zeros") else 0.0


def _no_moments(x: X) -> Moments:
    return Moments(_zero(x), _zero(x), _no_steps(x))


def _sign(x: X) -> X:
    """Return -1, 0 or 1, in x's type."""
    if isinstance(x, float | int):
        return math.copysign(1.0, x) if x else 0.0
    return x / (abs(x) + (x == 0))


def _root(s: X, eps: X, inside: bool) -> X:
    return (s + eps) ** 0.5 if inside else s**0.5 + eps


def gd(lr: X) -> UpdateRule:
    """Gradient descent, which is SGD with minibatch gradients (12.3, 12.4).

    x <- x - lr g
    """
    return UpdateRule(lambda x: (), lambda x, g, state: (x - lr * g, state))


def decaying_gd(lr: X) -> UpdateRule:
    """Gradient descent with a rate that falls with the square root of the step (12.4, 12.7.1).

    x <- x - lr t^(-1/2) g
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        t = state[0] + 1
        return x - lr * t**-0.5 * g, Clock(t)

    return UpdateRule(lambda x: Clock(_no_steps(x)), update)


def counting_gd(lr: X) -> UpdateRule:
    """Gradient descent with a rate per coordinate that falls with its nonzero gradients (12.7.1).

    s <- s + [g is not 0];  x <- x - lr s^(-1/2) g
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        s = state[0] + (g != 0)
        return x - lr * (s + (s == 0)) ** -0.5 * g, Squares(s)

    return UpdateRule(lambda x: Squares(_zero(x)), update)


def momentum(lr: X, beta: X = BETA) -> UpdateRule:
    """Heavy ball as the book and torch write it (12.6): a sum of gradients, not an average.

    v <- beta v + g;  x <- x - lr v
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v = beta * state[0] + g
        return x - lr * v, Velocity(v)

    return UpdateRule(lambda x: Velocity(_zero(x)), update)


def nesterov(lr: X, beta: X = BETA) -> UpdateRule:
    """Nesterov's momentum in torch's form, with the gradient at x (Sutskever et al. 2013).

    v <- beta v + g;  x <- x - lr (g + beta v)
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v = beta * state[0] + g
        return x - lr * (g + beta * v), Velocity(v)

    return UpdateRule(lambda x: Velocity(_zero(x)), update)


def adagrad(lr: X, eps: float = 1e-6, inside: bool = True) -> UpdateRule:
    """AdaGrad (12.7): each coordinate's rate falls with the sum of its squared gradients.

    s <- s + g^2;  x <- x - lr g / sqrt(s + eps)
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        s = state[0] + g * g
        return x - lr * g / _root(s, eps, inside), Squares(s)

    return UpdateRule(lambda x: Squares(_zero(x)), update)


def rmsprop(lr: X, gamma: float = 0.9, eps: float = 1e-6, inside: bool = True) -> UpdateRule:
    """RMSProp (12.8): AdaGrad with a leaky average instead of a sum.

    s <- gamma s + (1 - gamma) g^2;  x <- x - lr g / sqrt(s + eps)
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        s = gamma * state[0] + (1 - gamma) * g * g
        return x - lr * g / _root(s, eps, inside), Squares(s)

    return UpdateRule(lambda x: Squares(_zero(x)), update)


def adadelta(lr: X = 1.0, rho: float = 0.9, eps: float = 1e-5) -> UpdateRule:
    """Adadelta (12.9): the rate is the ratio of two leaky averages, of past steps and of gradients.

    s <- rho s + (1 - rho) g^2;  d = sqrt(delta + eps) / sqrt(s + eps) g;  x <- x - lr d;
    delta <- rho delta + (1 - rho) d^2
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        s = rho * state[0] + (1 - rho) * g * g
        d = ((state[1] + eps) / (s + eps)) ** 0.5 * g
        return x - lr * d, SquaresAndSteps(s, rho * state[1] + (1 - rho) * d * d)

    return UpdateRule(lambda x: SquaresAndSteps(_zero(x), _zero(x)), update)


def adam(
    lr: X,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: X = 1e-6,
    inside: bool = False,
    correct: bool = True,
) -> UpdateRule:
    """Adam (12.10), bias-corrected, with epsilon outside the root.

    Without `correct`, its averages keep the bias from starting at 0.

    v <- b1 v + (1 - b1) g;  s <- b2 s + (1 - b2) g^2;
    x <- x - lr (v / (1 - b1^t)) / (sqrt(s / (1 - b2^t)) + eps)
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v, s, t = (
            beta1 * state[0] + (1 - beta1) * g,
            beta2 * state[1] + (1 - beta2) * g * g,
            state[2] + 1,
        )
        v_share, s_share = (1 - beta1**t, 1 - beta2**t) if correct else (1.0, 1.0)
        step = (v / v_share) / _root(s / s_share, eps, inside)
        return x - lr * step, Moments(v, s, t)

    return UpdateRule(_no_moments, update)


def adam_uncorrected(lr: X, beta1: float = 0.9, beta2: float = 0.999, eps: X = 1e-6) -> UpdateRule:
    """Adam with averages that keep the bias from starting at 0."""
    return adam(lr, beta1, beta2, eps, correct=False)


def adam_from_first_gradient(
    lr: X, beta1: float = 0.9, beta2: float = 0.999, eps: X = 1e-6
) -> UpdateRule:
    """Adam without bias correction; its averages start at the first gradient and its square."""
    rule = adam_uncorrected(lr, beta1, beta2, eps)

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v, s, t = state
        is_first = t == 0  # when v and s are 0
        return rule.update(x, g, Moments(v + is_first * g, s + is_first * g * g, t))

    return UpdateRule(rule.init, update)


def adamw(
    lr: X, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, weight_decay: float = 0.01
) -> UpdateRule:
    """AdamW with torch's defaults: Adam with weight decay that bypasses the gradient.

    Source: Loshchilov and Hutter (2019).

    x <- x - lr wd x, then Adam's step
    """
    rule = adam(lr, beta1, beta2, eps)
    return UpdateRule(
        rule.init, lambda x, g, state: rule.update(x - lr * weight_decay * x, g, state)
    )


def yogi(lr: X, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-3) -> UpdateRule:
    """Yogi (12.10.3): Adam with a second moment that changes by a bounded amount per step.

    So a rare large gradient cannot dominate it.

    s <- s + (1 - b2) sign(g^2 - s) g^2; the rest as Adam
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        v, t = beta1 * state[0] + (1 - beta1) * g, state[2] + 1
        s = state[1] + (1 - beta2) * _sign(g * g - state[1]) * g * g
        step = (v / (1 - beta1**t)) / ((s / (1 - beta2**t)) ** 0.5 + eps)
        return x - lr * step, Moments(v, s, t)

    return UpdateRule(_no_moments, update)


def lars(lr: X, beta: float = BETA, trust: float = 0.001, weight_decay: float = 0.0) -> UpdateRule:
    """LARS (You, Gitman, Ginsburg 2017): momentum with steps in proportion to a layer's weights.

    Each call updates one layer. The ratio of the norms of weights and gradient scales its rate, so
    that a large batch's rate suits all layers. If either norm is 0, as for initial biases, the
    ratio is 1.

    r = |x| / (|g| + wd |x|);  v <- beta v + lr trust r (g + wd x);  x <- x - v
    """

    def update(x: X, g: X, state: State) -> tuple[X, State]:
        weights, gradient = _norm(x), _norm(g)
        neither = weights * gradient == 0  # then 1 / 1, without reading a GPU's value
        denominator = gradient + weight_decay * weights
        ratio = (weights + neither * (1 - weights)) / (denominator + neither * (1 - denominator))
        v = beta * state[0] + lr * trust * ratio * (g + weight_decay * x)
        return x - v, Velocity(v)

    return UpdateRule(lambda x: Velocity(_zero(x)), update)


def _norm(x: X) -> X:
    return abs(x) if isinstance(x, float | int) else (x * x).sum() ** 0.5


def trace(rule: UpdateRule, gradient: Callable[[X], X], x: X, num_steps: int) -> list[X]:
    """Return the positions of `num_steps` steps from x, starting with x."""
    state, positions = rule.init(x), [x]
    for _ in range(num_steps):
        x, state = rule.update(x, gradient(x), state)
        positions.append(x)
    return positions


class Rule(NamedTuple):
    """An optimizer in `RULES`: its title on pages, and the function that makes the rule."""

    title: str
    make: Callable[..., UpdateRule]

    def takes(self, name: str) -> bool:
        """Return whether the rule has a hyper-parameter: `beta`, `weight_decay`, ..."""
        return name in inspect.signature(self.make).parameters

    @property
    def label(self) -> str:
        """The rule's name in rows, with its default momentum if it has one."""
        return f"{self.title} {BETA:g}" if self.takes("beta") else self.title


RULES: Mapping[str, Rule] = {  # by the values of a recipe's `optimizer`
    "sgd": Rule("SGD", gd),
    "momentum": Rule("momentum", momentum),
    "nesterov": Rule("Nesterov", nesterov),
    "adagrad": Rule("AdaGrad", adagrad),
    "rmsprop": Rule("RMSProp", rmsprop),
    "adadelta": Rule("Adadelta", adadelta),
    "adam": Rule("Adam", adam),
    "adam_uncorrected": Rule("Adam, uncorrected", adam_uncorrected),
    "adam_from_first_gradient": Rule("Adam from the first gradient", adam_from_first_gradient),
    "adamw": Rule("AdamW", adamw),
    "yogi": Rule("Yogi", yogi),
    "lars": Rule("LARS", lars),
}
