"""Steps per second of lab/optim/update_rules.py against torch.optim: `-m bench.update_rules`.

Both do the same work, of the airfoil regression's size (6 weights, batches of 10): 300 steps, of
one run at a time and of 20 seeds x 26 rates at once. Variants are interleaved; medians with their
IQR. Not a test: nothing is asserted about time.
"""

import platform
import time
from collections.abc import Callable

import numpy as np
import torch

from lab.machine.limits import usable_cores
from lab.optim import update_rules
from lab.results.stats import summarise
from stages.optimizers.measure.regression import Problem, descend, initial, problem

STEPS, ROUNDS = 300, 9
VARIANTS: dict[
    str,
    tuple[
        Callable[[np.ndarray], update_rules.UpdateRule],
        Callable[[list[torch.Tensor]], torch.optim.Optimizer],
    ],
] = {
    "SGD": (update_rules.gd, lambda p: torch.optim.SGD(p, 0.01)),
    "momentum": (
        lambda lr: update_rules.momentum(lr, 0.9),
        lambda p: torch.optim.SGD(p, 0.01, momentum=0.9),
    ),
    "AdaGrad": (update_rules.adagrad, lambda p: torch.optim.Adagrad(p, 0.01)),
    "Adam": (update_rules.adam, lambda p: torch.optim.Adam(p, 0.01)),
}


def ours(
    make_rule: Callable[[np.ndarray], update_rules.UpdateRule],
    task: Problem,
    num_seeds: int,
    num_rates: int,
) -> float:
    """Steps per second of this lab's rule, over all its runs."""
    w = initial(num_seeds, 6, seed=0)
    start = time.perf_counter()
    descend(make_rule, np.full(num_rates, 0.01), task, w, 10, STEPS, STEPS, seed=0)
    return STEPS * num_seeds * num_rates / (time.perf_counter() - start)


def torchs(make: Callable[[list[torch.Tensor]], torch.optim.Optimizer], task: Problem) -> float:
    """Steps per second of torch's optimizer."""
    X, y = torch.from_numpy(task.X), torch.from_numpy(task.y)
    w = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    optimizer = make([w])
    start = time.perf_counter()
    for step in range(STEPS):
        rows = slice(step % 150 * 10, step % 150 * 10 + 10)
        optimizer.zero_grad()
        (0.5 * ((X[rows] @ w - y[rows]) ** 2).mean()).backward()
        optimizer.step()
    return STEPS / (time.perf_counter() - start)


def main() -> None:
    """Time both on every rule and print the medians."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    task = problem(rng.normal(size=(1500, 6)), rng.normal(size=1500))
    print(
        f"{platform.machine()}, {usable_cores()} cores, torch {torch.__version__}, 1 thread;"
        " steps per second"
    )
    for name, (make_rule, make) in VARIANTS.items():
        variants = {
            "torch.optim": lambda make=make: torchs(make, task),
            "one run": lambda r=make_rule: ours(r, task, 1, 1),
            "520 at once": lambda r=make_rule: ours(r, task, 20, 26),
        }
        samples: dict[str, list[float]] = {variant: [] for variant in variants}
        for round_ in range(ROUNDS + 1):
            for variant in list(variants)[:: 1 if round_ % 2 else -1]:
                samples[variant].append(variants[variant]())
        for variant, values in samples.items():
            summary = summarise(values[1:])
            print(f"{name:10} {variant:12} {summary.median:12,.0f}  IQR {summary.iqr:10,.0f}")


if __name__ == "__main__":
    main()
