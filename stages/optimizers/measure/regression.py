"""Descent on linear regressions: the notes' airfoil runs (12.5 to 12.10), also with torch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from lab.optim import objectives, update_rules
from lab.optim.objectives import Array
from lab.optim.update_rules import UpdateRule
from lab.results.measurements import Cell, Measurement, by_seed, line, samples_at

BATCH_SIZE = 10  # of the notes' runs by default
DIVERGED_ABOVE = 1e6  # an excess far above the start of any problem here
SHARES = 1 / np.arange(1, 61)  # share of the rows that have each feature, from common to rare

MakeRule = Callable[[Array], UpdateRule]


class Problem(NamedTuple):
    """A regression for each start, or one for all (`problems` is 1).

    X (problems, n, d), y (problems, n), and the exact Hessian, minimiser and minimum of half the
    mean squared error.
    """

    X: Array
    y: Array
    hessian: Array
    minimiser: Array
    minimum: Array

    def batch(self, rows: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return features (starts, batch, d) and targets of each start's `rows` (starts, batch)."""
        problem = np.arange(len(rows))[:, None] % len(self.X)
        return self.X[problem, rows], self.y[problem, rows]

    def excess(self, w: Array) -> Array:
        """Return the loss at w (k, starts, d) minus its minimum, (k, starts)."""
        return objectives.excess(w.swapaxes(0, 1), self.hessian, self.minimiser[:, None]).T


class Trajectory(NamedTuple):
    """Excess (checks, rates, seeds) over the minimum after `steps` (checks,).

    `diverged_step` (rates, seeds) is the step at which a run diverged, or 0; from this step on, its
    excess is NaN. `weights` (rates, seeds, d) are the final ones.
    """

    steps: NDArray[np.int64]
    excess: Array
    diverged_step: NDArray[np.int64]
    weights: Array


# --- the notes' runs ---


class NotesRun(NamedTuple):
    """One of the notes' airfoil runs, or a run to compare with these."""

    name: str
    make_rule: MakeRule
    rate: float
    batch_size: int = BATCH_SIZE
    num_epochs: int = 2
    version: str = "from scratch"


NOTES_RUNS = (
    NotesRun("GD", update_rules.gd, 1.0, batch_size=1500, num_epochs=10),
    NotesRun("SGD", update_rules.gd, 0.005, batch_size=1, num_epochs=1),
    NotesRun("SGD", update_rules.gd, 0.4, batch_size=100),
    NotesRun("SGD", update_rules.gd, 0.05),
    NotesRun("momentum 0.5", partial(update_rules.momentum, beta=0.5), 0.02),
    NotesRun("momentum 0.9", partial(update_rules.momentum, beta=0.9), 0.02),
    NotesRun("momentum 0.9", partial(update_rules.momentum, beta=0.9), 0.01),
    NotesRun("momentum 0.9", partial(update_rules.momentum, beta=0.9), 0.005),
    NotesRun("AdaGrad", update_rules.adagrad, 0.1),
    NotesRun("RMSProp", update_rules.rmsprop, 0.01),
    NotesRun("Adadelta", update_rules.adadelta, 1.0),
    NotesRun("Adam", update_rules.adam, 0.01),
    NotesRun("Adam", partial(update_rules.adam, inside=True), 0.01, version="epsilon inside"),
    NotesRun("Adam", update_rules.adam_uncorrected, 0.01, version="uncorrected"),
    NotesRun("Yogi", update_rules.yogi, 0.01),
)


def notes_runs(task: Problem, num_seeds: int, seed: int) -> Iterator[Measurement]:
    """Yield the final excess, and the largest one after the first epoch relative to the start's."""
    w = initial(num_seeds, task.X.shape[-1], seed)
    for run in NOTES_RUNS:
        per_epoch = task.X.shape[1] // run.batch_size
        result = descend(
            run.make_rule,
            np.array([run.rate]),
            task,
            w,
            run.batch_size,
            run.num_epochs * per_epoch,
            max(1, per_epoch // 8),
            seed,
        )
        readings = result.excess[:, 0]  # (checks, seeds)
        late = readings[result.steps >= per_epoch]
        about: dict[str, Cell] = {
            "rate": run.rate,
            "batch_size": run.batch_size,
            "version": run.version,
        }
        yield by_seed("airfoil_runs", run.name, readings[-1], run.num_epochs, **about)
        yield by_seed("airfoil_worst", run.name, late.max(0) / readings[0], 0, **about)


class Concise(NamedTuple):
    """A run with torch's optimizer, as in the notes' concise versions."""

    name: str
    make_optimizer: Callable[[list[Tensor]], torch.optim.Optimizer]
    rate: float


CONCISE_RUNS = (
    Concise("momentum 0.9", partial(torch.optim.SGD, lr=0.005, momentum=0.9), 0.005),
    Concise("AdaGrad", partial(torch.optim.Adagrad, lr=0.1), 0.1),
    Concise("Adam", partial(torch.optim.Adam, lr=0.01), 0.01),
)


class Settings(NamedTuple):
    """Settings that differ between the concise run and the run from scratch."""

    loss_factor: float
    own_start: bool  # the bias starts at torch's default, not at 0
    num_epochs: int


FROM_SCRATCH = Settings(0.5, own_start=False, num_epochs=2)
CONCISE = Settings(1.0, own_start=True, num_epochs=4)


def concise_runs(task: Problem, num_seeds: int, seed: int) -> Iterator[Measurement]:
    """Yield the notes' concise runs, and torch's optimizers with the settings from scratch."""
    w = initial(num_seeds, task.X.shape[-1], seed)
    for run in CONCISE_RUNS:
        for version, settings in (("torch's optimizer", FROM_SCRATCH), ("concise", CONCISE)):
            yield from samples_at(
                "airfoil_runs",
                run.name,
                np.arange(settings.num_epochs + 1),
                list(concise_descent(run.make_optimizer, settings, task, w, seed)),
                rate=run.rate,
                batch_size=BATCH_SIZE,
                version=version,
            )


def first_steps(task: Problem, seed: int) -> Iterator[Measurement]:
    """Yield the length of momentum's first step from the same weights on the same batch."""
    w = initial(1, task.X.shape[-1], seed)
    rows = next(batches(task.X.shape[1], BATCH_SIZE, 1, [seed]))
    rule = update_rules.momentum(0.005, beta=0.9)
    scratch, _ = rule.update(w, batch_gradients(task, w, rows), rule.init(w))
    X, y = map(torch.from_numpy, task.batch(rows))
    weights = torch.from_numpy(w).clone().requires_grad_()
    F.mse_loss((X @ weights[:, :, None])[:, :, 0], y).backward()
    torch.optim.SGD([weights], lr=0.005, momentum=0.9).step()
    for version, end in (("from scratch", scratch), ("concise", weights.detach().numpy())):
        length = [float(np.linalg.norm(end - w))]
        yield from line("first_step", "momentum 0.9", [1], length, version=version)


def concise_descent(
    make_optimizer: Callable[[list[Tensor]], torch.optim.Optimizer],
    settings: Settings,
    task: Problem,
    w: Array,
    seed: int,
) -> Array:
    """Return the excess (epochs + 1, seeds) of torch's optimizer in float32, as its users compute.

    All starts `w` (seeds, d) run concurrently, each on its own batches. They stay independent: no
    term of the summed loss depends on two of them, and the rules are elementwise.
    """
    X, y = (torch.from_numpy(each[0]).float() for each in (task.X, task.y))
    features = X[:, :-1].contiguous()  # the last column is the bias's
    weight, bias = torch.from_numpy(w[:, :-1]).float(), torch.from_numpy(w[:, -1:]).float()
    if settings.own_start:
        bias = torch.stack([_own_bias(w.shape[1] - 1, seed + i) for i in range(len(w))])
    params = [weight.requires_grad_(), bias.requires_grad_()]
    optimizer = make_optimizer(params)
    per_epoch = len(y) // BATCH_SIZE
    readings = [_weights(params)]
    seeds, num_steps = range(seed, seed + len(w)), settings.num_epochs * per_epoch
    for step, rows in enumerate(batches(len(y), BATCH_SIZE, num_steps, seeds), start=1):
        optimizer.zero_grad()
        y_hat = (features[rows] @ weight[:, :, None])[:, :, 0] + bias
        losses = F.mse_loss(y_hat, y[rows], reduction="none").mean(1)
        (settings.loss_factor * losses).sum().backward()
        optimizer.step()
        if step % per_epoch == 0:
            readings.append(_weights(params))
    return task.excess(np.stack(readings))


def _own_bias(num_features: int, seed: int) -> Tensor:
    """Return the bias (1,) with which torch's linear layer starts."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Linear(num_features, 1).bias.detach()


def _weights(params: Sequence[Tensor]) -> Array:
    return torch.cat([p.detach() for p in params], dim=1).double().numpy()


# --- problems, and descent on them ---


def problem(X: Array, y: Array) -> Problem:
    """Return the regressions of y (..., n) on X (..., n, d)."""
    X, y = X.reshape(-1, *X.shape[-2:]), y.reshape(-1, y.shape[-1])
    return Problem(X, y, *objectives.least_squares(X, y))


def ill_conditioned(seeds: Iterable[int]) -> Problem:
    """Return regressions whose Hessians are diagonal with eigenvalues from 1 to 1e-3."""
    scales = np.logspace(0, -1.5, 20)

    def drawn(rng: np.random.Generator) -> tuple[Array, Array]:
        X = np.linalg.qr(rng.normal(size=(1500, 20)))[0] * np.sqrt(1500) * scales
        return X, X @ (rng.normal(size=20) / scales) + 0.1 * rng.normal(size=1500)

    return _drawn(drawn, "ill", seeds)


def rotated(task: Problem, seeds: Iterable[int]) -> Problem:
    """Return the same regressions in other coordinates: each with randomly rotated features."""
    shape = task.hessian.shape[1:]
    normal = np.stack([_rng("rotation", seed).normal(size=shape) for seed in seeds])
    return problem(task.X @ np.linalg.qr(normal)[0], task.y)


def sparse(seeds: Iterable[int]) -> Problem:
    """Return regressions on rare features: each is 1 in its share SHARES of the rows, else 0."""

    def drawn(rng: np.random.Generator) -> tuple[Array, Array]:
        X = (rng.random((1500, len(SHARES))) < SHARES).astype(float)
        return X, X @ rng.normal(size=len(SHARES)) + 0.1 * rng.normal(size=1500)

    return _drawn(drawn, "sparse", seeds)


def _drawn(
    draw: Callable[[np.random.Generator], tuple[Array, Array]], name: str, seeds: Iterable[int]
) -> Problem:
    """Draw a problem for each seed."""
    X, y = zip(*(draw(_rng(name, seed)) for seed in seeds), strict=True)
    return problem(np.stack(X), np.stack(y))


def _rng(name: str, seed: int) -> np.random.Generator:
    """Return a generator that is independent of a seed's starts and batches."""
    return np.random.default_rng([seed, *name.encode()])


def descend(
    make_rule: Callable[[Array], UpdateRule],
    rates: Array,
    task: Problem,
    w: Array,
    batch_size: int,
    num_steps: int,
    check_every: int,
    seed: int,
) -> Trajectory:
    """Run a rule at all rates from all starts concurrently.

    Start i has its own batches, drawn from `seed` + i and the same at every rate.

    Args:
        make_rule: a rule for an array of rates (rates, 1, 1).
        rates: (rates,).
        task: the regression of each start.
        w: starts (seeds, d).
        batch_size: examples per step; the loss is half their mean squared error.
        num_steps: steps of each run.
        check_every: steps between two readings of the excess.
        seed: of the first start's batches.
    """
    rule = make_rule(rates[:, None, None])
    x = np.broadcast_to(w, (len(rates), *w.shape)).copy()
    state = rule.init(x)
    seeds = range(seed, seed + len(w))
    diverged = np.zeros(x.shape[:2], dtype=np.int64)
    steps, readings = [0], [task.excess(x)]
    drawn = batches(task.X.shape[1], batch_size, num_steps, seeds)
    with np.errstate(over="ignore", invalid="ignore"):
        for step, rows in enumerate(drawn, start=1):
            X, y = task.batch(rows)  # (seeds, batch, d), (seeds, batch)
            # all rates in one matrix multiplication: (seeds, rates, batch)
            error = x.swapaxes(0, 1) @ X.swapaxes(1, 2) - y[:, None, :]
            x, state = rule.update(x, (error @ X).swapaxes(0, 1) / batch_size, state)
            now = task.excess(x)
            diverged[~(now < DIVERGED_ABOVE) & (diverged == 0)] = step
            if step % check_every == 0 or step == num_steps:
                steps.append(step)
                readings.append(np.where(diverged > 0, np.nan, now))
    return Trajectory(np.array(steps), np.stack(readings), diverged, x)


def batches(
    n: int, batch_size: int, num_steps: int, seeds: Sequence[int]
) -> Iterator[NDArray[np.int64]]:
    """Yield `num_steps` minibatches of row numbers (seeds, batch); each epoch is a new permutation.

    An epoch leaves out the rows that do not fill a batch.
    """
    rngs = [np.random.default_rng(seed) for seed in seeds]
    per_epoch = n // batch_size
    for step in range(num_steps):
        if step % per_epoch == 0:
            orders = np.stack([rng.permutation(n) for rng in rngs])
        start = step % per_epoch * batch_size
        yield orders[:, start : start + batch_size]


def batch_gradients(task: Problem, x: Array, rows: NDArray[np.int64]) -> Array:
    """Return the gradients (seeds, d) of half the mean squared error at x (seeds, d).

    Each seed has its own `rows` (seeds, batch).
    """
    X, y = task.batch(rows)
    error = (X @ x[:, :, None])[:, :, 0] - y
    return np.asarray(np.einsum("sb,sbd->sd", error, X) / rows.shape[1])


def initial(num_seeds: int, d: int, seed: int) -> Array:
    """Return the book's starts (num_seeds, d): weights N(0, 0.01^2), then a bias of 0."""
    w = np.random.default_rng(seed).normal(0, 0.01, (num_seeds, d))
    w[:, -1] = 0
    return w
