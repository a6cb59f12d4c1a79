"""Where gradients vanish: flat points, tanh, and saddles, how common and how sticky they are."""

from collections.abc import Iterator, Sequence

import numpy as np

from lab.optim import objectives, update_rules
from lab.optim.update_rules import UpdateRule
from lab.results.curves import Curve, line
from stages.landscapes.measure import names

NEAR = 1e-3  # how near to a flat point its neighbours are
NUM_NEIGHBOURS = 360


def neighbours() -> Iterator[Curve]:
    """Where the four quadratics without a slope at 0 lie lower and higher beside it."""
    angles = 2 * np.pi * (np.arange(NUM_NEIGHBOURS) + 0.5) / NUM_NEIGHBOURS
    around = NEAR * np.stack([np.cos(angles), np.sin(angles)])
    signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    for name, (a, b) in zip(names.QUADRATICS, signs, strict=True):
        value = a * around[0] ** 2 + b * around[1] ** 2
        yield line(names.NEIGHBOURS, name, [(value < 0).mean()], [(value > 0).mean()])


def shapes() -> Iterator[Curve]:
    """x^3 around its flat point, tanh and its gradient."""
    x = np.arange(-2, 2, 0.01)
    yield line(names.FLAT_POINT, names.CUBE, x, x**3)
    x = np.arange(-2, 5, 0.05)
    yield line(names.VANISHING_GRADIENT, names.TANH, x, np.tanh(x))
    yield line(names.VANISHING_GRADIENT, names.TANH_GRADIENT, x, 1 - np.tanh(x) ** 2)


def spectra(dimensions: Sequence[int], num_draws: int, rng: np.random.Generator) -> Iterator[Curve]:
    """How many eigenvalues of random symmetric matrices are negative, and how often none is."""
    shares, minima = [], []
    for d in dimensions:
        matrices = rng.normal(size=(max(20, num_draws // d), d, d))
        eigenvalues = np.linalg.eigvalsh(matrices + matrices.swapaxes(1, 2))
        shares.append((eigenvalues < 0).mean())
        minima.append((eigenvalues > 0).all(1).mean())
    yield line(names.NEGATIVE_EIGENVALUES, names.NEGATIVE_SHARE, dimensions, shares)
    yield line(names.NEGATIVE_EIGENVALUES, names.WITHOUT_NEGATIVE, dimensions, minima)


def ways_down(num_seeds: int, num_draws: int, rng: np.random.Generator) -> Iterator[Curve]:
    """Share of random directions in which saddles go down, in few and in many dimensions."""
    for d in (names.FEW, names.MANY):
        one_way = np.diag([1.0] * (d - 1) + [-1.0])
        for name, make in (
            (names.one_way(d), lambda one_way=one_way: one_way[None]),
            (names.random_saddles(d), lambda d=d: _random_saddles(num_draws, d, rng)),
        ):
            shares = []
            for _ in range(num_seeds):
                u = rng.normal(size=(num_draws, d))
                hessians = np.resize(make(), (num_draws, d, d))
                shares.append((np.einsum("ni,nij,nj->n", u, hessians, u) < 0).mean())
            yield line(names.WAYS_DOWN, name, np.arange(num_seeds), shares)


def _random_saddles(count: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Those of `count` random symmetric matrices that have eigenvalues of both signs."""
    matrices = rng.normal(size=(count, d, d))
    matrices = matrices + matrices.swapaxes(1, 2)
    eigenvalues = np.linalg.eigvalsh(matrices)
    return np.asarray(matrices[(eigenvalues[:, 0] < 0) & (eigenvalues[:, -1] > 0)])


def escapes(lr: float, noise: float, num_seeds: int, rng: np.random.Generator) -> Iterator[Curve]:
    """Steps until |x2| > 1 on x1^2 - x2^2 from (1, offset), for offsets down to 1e-12, and 0.

    By seed, those of noisy descent from (1, 0).
    """
    offsets = np.append(10.0 ** -np.arange(1, 13), 0.0)
    variants = {
        names.GD: (update_rules.gd(lr), 0.0),
        names.NOISY_GD: (update_rules.gd(lr), noise),
        names.MOMENTUM: (update_rules.momentum(lr, 0.9), 0.0),
        names.ADAM: (update_rules.adam(lr, eps=1e-8), 0.0),
    }
    for name, (rule, its_noise) in variants.items():
        steps = escape_steps(rule, offsets, its_noise, rng)
        yield line(names.SADDLE_ESCAPE, name, offsets, steps)
    steps = escape_steps(update_rules.gd(lr), np.zeros(num_seeds), noise, rng)
    yield line(names.NOISY_ESCAPE, names.NOISY_GD, np.arange(num_seeds), steps)


def escape_steps(
    rule: UpdateRule, offsets: np.ndarray, noise: float, rng: np.random.Generator
) -> np.ndarray:
    """For each offset the first step with |x2| > 1, SADDLE_LIMIT where there is none."""
    x = np.stack([np.ones_like(offsets), offsets])
    state, steps = rule.init(x), np.full(offsets.shape, names.SADDLE_LIMIT)
    for step in range(1, names.SADDLE_LIMIT):
        gradient = objectives.saddle_gradient(x) + noise * rng.normal(size=x.shape)
        x, state = rule.update(x, gradient, state)
        steps[(np.abs(x[1]) > 1) & (steps == names.SADDLE_LIMIT)] = step
        x = x.clip(-2, 2)  # what has escaped must not overflow
        if (steps < names.SADDLE_LIMIT).all():
            break
    return steps
