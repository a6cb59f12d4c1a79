"""Points where gradients vanish (12.1.2, 12.1.3): flat points and saddles."""

from collections.abc import Iterator

import numpy as np

from lab.optim import objectives, update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.measurements import Measurement, by_seed, line

NEIGHBOURS = 0.01 * np.array([-2, -1, 1, 2])  # of 0, on the notes' grid
SADDLE_LIMIT = 10_000  # steps after which a run counts as still on the saddle


def around_the_saddle() -> Iterator[Measurement]:
    """Yield the share of lower neighbours of 0, where the notes' x³ is flat."""
    share = (NEIGHBOURS**3 < 0).mean()
    yield from line("around_the_saddle", "x³", [0], [share])


def ways_down(num_seeds: int, num_draws: int, rng: np.random.Generator) -> Iterator[Measurement]:
    """Yield the share of random directions in which saddles go down, in few and many dimensions."""
    for d in (2, 10):
        size = (num_draws, d)
        one_way = np.diag([1.0] * (d - 1) + [-1.0])[None]
        shares = [share_down(rng.normal(size=size), one_way) for _ in range(num_seeds)]
        yield by_seed("ways_down", "one way down", shares, dimension=d)
        shares = [
            share_down(rng.normal(size=size), random_saddles(num_draws, d, rng))
            for _ in range(num_seeds)
        ]
        yield by_seed("ways_down", "random", shares, dimension=d)


def share_down(u: Array, hessians: Array) -> float:
    """Return the share of directions u (n, d) with uᵀ H u < 0; H cycles through (k, d, d)."""
    n, d = u.shape
    return float((np.einsum("ni,nij,nj->n", u, np.resize(hessians, (n, d, d)), u) < 0).mean())


def random_saddles(count: int, d: int, rng: np.random.Generator) -> Array:
    """Draw `count` random symmetric matrices; return those with eigenvalues of both signs."""
    matrices = random_symmetric(count, d, rng)
    eigenvalues = np.linalg.eigvalsh(matrices)
    return np.asarray(matrices[(eigenvalues[:, 0] < 0) & (eigenvalues[:, -1] > 0)])


def random_symmetric(count: int, d: int, rng: np.random.Generator) -> Array:
    """Return symmetric matrices (count, d, d) of normal numbers."""
    matrices = rng.normal(size=(count, d, d))
    return np.asarray(matrices + matrices.swapaxes(1, 2))


def escapes(
    lr: float, noise: float, num_seeds: int, rng: np.random.Generator
) -> Iterator[Measurement]:
    """Yield the steps off the saddle x1^2 - x2^2 from (1, offset), for offsets 0.1 to 1e-12, and 0.

    Also yield those of noisy descent from (1, 0), for each seed.
    """
    offsets = np.append(10.0 ** -np.arange(1, 13), 0.0)
    for name, rule, its_noise in (
        ("GD", update_rules.gd(lr), 0.0),
        ("GD with noise", update_rules.gd(lr), noise),
        ("momentum 0.9", update_rules.momentum(lr, 0.9), 0.0),
        ("Adam", update_rules.adam(lr, eps=1e-8), 0.0),
    ):
        yield from line("saddle_escape", name, offsets, escape_steps(rule, offsets, its_noise, rng))
    steps = escape_steps(update_rules.gd(lr), np.zeros(num_seeds), noise, rng)
    yield by_seed("noisy_escape", "GD with noise", steps)


def escape_steps(rule: UpdateRule, offsets: Array, noise: float, rng: np.random.Generator) -> Array:
    """Return for each offset the first step with |x2| > 1, or SADDLE_LIMIT if there is none."""
    x = np.stack([np.ones_like(offsets), offsets])
    state, steps = rule.init(x), np.full(offsets.shape, SADDLE_LIMIT)
    for step in range(1, SADDLE_LIMIT):
        gradient = objectives.saddle_gradient(x) + noise * rng.normal(size=x.shape)
        x, state = rule.update(x, gradient, state)
        steps[(np.abs(x[1]) > 1) & (steps == SADDLE_LIMIT)] = step
        x = x.clip(-2, 2)  # escaped runs must not overflow
        if (steps < SADDLE_LIMIT).all():
            break
    return steps
