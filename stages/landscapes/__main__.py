"""Run the stage: `python -m stages.landscapes`."""

import sys
from collections.abc import Iterator

import numpy as np

from lab.core.exit_codes import run
from lab.core.files import REPORTS, Metrics, write_metrics, write_rows
from lab.core.params import load
from lab.optim import objectives, update_rules
from lab.results.curves import Curve, curve, key, line, rows_of
from stages.landscapes.params import LandscapeParams, Params

RANGE = (0.5, 1.5)  # where the book draws risk and empirical risk
SIGMA = 1.0  # of the phases of `sampled_risk`: an example's own minimum may lie anywhere in RANGE
SADDLE_LIMIT = 10_000  # steps after which a run counts as still on the saddle


def risks() -> Iterator[Curve]:
    """Yield f and g over the book's range, and each one's minimum."""
    x = np.arange(*RANGE, 0.01)
    for name, function in (
        ("risk", objectives.risk),
        ("empirical risk", objectives.empirical_risk),
    ):
        yield line("risk", name, x, function(x))
        best = objectives.minimise(function, *RANGE)
        yield line("risk_minimum", name, np.array([best]), function(np.array([best])))


def argmin_gaps(params: LandscapeParams, rng: np.random.Generator) -> Iterator[Curve]:
    """Yield the distance between the minimisers of risk and sampled risk, and the risk it costs,
    against n.
    """
    best = objectives.minimise(objectives.risk, *RANGE)
    grid = np.linspace(*RANGE, 2001)
    gaps, costs = [], []
    for n in params.sample_sizes:
        phases = rng.normal(0, SIGMA, (params.num_draws, n))
        found = grid[objectives.sampled_risk(grid, phases, SIGMA).argmin(1)]
        gaps.append(np.abs(found - best))
        costs.append(objectives.risk(found) - objectives.risk(np.array(best)))
    yield curve("argmin_gap", "distance of the minimisers", params.sample_sizes, gaps)
    yield curve("argmin_gap", "excess risk", params.sample_sizes, costs)


def shapes() -> Iterator[Curve]:
    """Yield x^3 around its flat point, tanh and its gradient."""
    x = np.arange(-2, 2, 0.01)
    yield line("flat_point", "x³", x, x**3)
    x = np.arange(-2, 5, 0.05)
    yield line("vanishing_gradient", "tanh(x)", x, np.tanh(x))
    yield line("vanishing_gradient", "its gradient", x, 1 - np.tanh(x) ** 2)


def spectra(params: LandscapeParams, rng: np.random.Generator) -> Iterator[Curve]:
    """Yield the share of negative eigenvalues of random symmetric matrices, and how often none is
    negative.
    """
    shares, minima = [], []
    for d in params.dimensions:
        matrices = rng.normal(size=(max(20, params.num_draws // d), d, d))
        eigenvalues = np.linalg.eigvalsh(matrices + matrices.swapaxes(1, 2))
        shares.append((eigenvalues < 0).mean())
        minima.append((eigenvalues > 0).all(1).mean())
    yield line("negative_eigenvalues", "share of negative eigenvalues", params.dimensions, shares)
    yield line("negative_eigenvalues", "matrices without a negative one", params.dimensions, minima)


def escapes(params: LandscapeParams, rng: np.random.Generator) -> Iterator[Curve]:
    """Yield the steps until |x2| > 1 on x1^2 - x2^2 from (1, offset), for offsets down to 1e-12 and
    0.
    """
    offsets = np.append(10.0 ** -np.arange(1, 13), 0.0)
    arms = {
        "GD": (update_rules.gd(params.saddle_lr), 0.0),
        "GD with noise": (update_rules.gd(params.saddle_lr), params.saddle_noise),
        "momentum 0.9": (update_rules.momentum(params.saddle_lr, 0.9), 0.0),
        "Adam": (update_rules.adam(params.saddle_lr, eps=1e-8), 0.0),
    }
    for name, (rule, noise) in arms.items():
        yield line(
            "saddle_escape", name, offsets, escape_steps(rule, offsets, noise, rng).astype(float)
        )


def escape_steps(
    rule: update_rules.Rule, offsets: np.ndarray, noise: float, rng: np.random.Generator
) -> np.ndarray:
    """Return for each offset the first step with |x2| > 1, SADDLE_LIMIT where there is none."""
    x = np.stack([np.ones_like(offsets), offsets])
    state, steps = rule.init(x), np.full(offsets.shape, SADDLE_LIMIT)
    for step in range(1, SADDLE_LIMIT):
        gradient = objectives.saddle_gradient(x) + noise * rng.normal(size=x.shape)
        x, state = rule.update(x, gradient, state)
        steps[(np.abs(x[1]) > 1) & (steps == SADDLE_LIMIT)] = step
        x = x.clip(-2, 2)  # what has escaped must not overflow
        if (steps < SADDLE_LIMIT).all():
            break
    return steps


def measure(params: LandscapeParams, seed: int) -> list[Curve]:
    """Return the curves of all demos."""
    rng = np.random.default_rng(seed)
    return [
        *risks(),
        *argmin_gaps(params, rng),
        *shapes(),
        *spectra(params, rng),
        *escapes(params, rng),
    ]


def summarise(curves: list[Curve]) -> Metrics:
    """Return the landscapes in few numbers."""
    by_name = {(c.demo, c.series): c for c in curves}
    f, g = (by_name["risk_minimum", name] for name in ("risk", "empirical risk"))
    gap = by_name["argmin_gap", "distance of the minimisers"]
    slope = np.polyfit(np.log(gap.x), np.log(gap.y), 1)[0]
    shares = by_name["negative_eigenvalues", "share of negative eigenvalues"]
    minima = by_name["negative_eigenvalues", "matrices without a negative one"]
    escape = {
        name: by_name["saddle_escape", name].y
        for name in ("GD", "GD with noise", "momentum 0.9", "Adam")
    }
    # linear: its columns are the Hessian's
    eigenvalues = np.linalg.eigvalsh(objectives.saddle_gradient(np.eye(2)))
    millionth = 5  # the place of 1e-6 among the offsets of `escapes`
    return {
        "argmin_risk": round(float(f.x[0]), 6),
        "min_risk": round(float(f.y[0]), 6),
        "argmin_empirical_risk": round(float(g.x[0]), 6),
        "min_empirical_risk": round(float(g.y[0]), 6),
        "excess_risk": round(float(objectives.risk(g.x)[0] - f.y[0]), 6),
        "gap_exponent": round(float(slope), 4),
        "saddle_eigenvalue_low": float(eigenvalues[0]),
        "saddle_eigenvalue_high": float(eigenvalues[1]),
        "tanh_gradient_at_4": round(float(1 - np.tanh(4.0) ** 2), 6),
        "negative_share_in_highest_dimension": round(float(shares.y[-1]), 4),
        "minima_share_in_dimension_2": round(float(minima.y[list(minima.x).index(2)]), 4)
        if 2 in minima.x
        else "-",
        **{f"escape_steps_{key(name)}": int(steps[millionth]) for name, steps in escape.items()},
        "escape_steps_gd_from_0": int(escape["GD"][-1]),
        "escape_steps_gd_with_noise_from_0": int(escape["GD with noise"][-1]),
    }


def main() -> None:
    """Measure all demos and write rows and metrics."""
    params = load(Params)
    curves = measure(params.landscapes, params.seed)
    write_rows(REPORTS / "landscapes", rows_of(curves))
    write_metrics(REPORTS / "landscapes", summarise(curves))


if __name__ == "__main__":
    sys.exit(run(main))
