"""The numbers that optimizers' rows give, each derived once."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import hypot
from statistics import fmean

import numpy as np

from lab.results.findings import (
    AS_LONG,
    Finding,
    Over,
    Samples,
    combine,
    exact,
    median,
    possible,
    ratio,
)
from lab.results.measurements import Results
from lab.results.stats import ANY, SMALLEST_EFFECT, Range
from stages.optimizers.measure.names import BEST_RIVAL, COUNTING, DECAYING, PROBLEMS, ROTATED, RULES

METRICS = (
    "starts_where_adagrad_2_ends_lower_percent_turned_0",
    "starts_where_adagrad_2_ends_lower_percent_turned_45",
)
OF_TIMES = False  # the page tells none
EXCESS = "times the excess loss"
AS_THE_NOTES = (("momentum 0.9", 0.005), ("AdaGrad", 0.1), ("Adam", 0.01))  # learning rates


def findings(results: Results) -> dict[str, Finding]:
    over_seeds = partial(median, over=Over.SEEDS)
    excess = partial(ratio, unit=EXCESS, over=Over.SEEDS)

    def after_epochs(epochs: int, rule: str, rate: float, version: str = "from scratch") -> Samples:
        """The excess of one of the notes' airfoil runs, on batches of 10."""
        return results.samples(
            "airfoil_runs", rule, epochs, rate=rate, batch_size=10, version=version
        )

    def first_step(version: str) -> Samples:
        return results.samples("first_step", "momentum 0.9", version=version)

    def at_best_rate(problem: str, rule: str) -> Samples:
        """The excess at a rule's best rate, which other seeds have chosen."""
        return results.samples("best_rate", rule, problem=problem)

    def with_epsilon(problem: str, epsilon: float) -> Samples:
        """Adam's excess at its best rate."""
        return results.samples("epsilons", "Adam", epsilon, problem=problem)

    def corrected(epochs: int, rule: str, **columns: float) -> Samples:
        """A rule's excess, each seed's mean of many runs."""
        return results.samples("bias_correction", rule, epochs, **columns)

    def cost_of_a_tenth(rule: str) -> Samples:
        """The excess on airfoil at a tenth of the best rate, over that at the best."""
        by_rate = results.series("rates", rule, problem="airfoil")
        if not by_rate:
            return results.samples("rates", rule, problem="airfoil")
        best = min(by_rate, key=lambda m: np.nan_to_num(np.median(m.values), nan=np.inf))
        tenth = min(by_rate, key=lambda m: abs(m.x - best.x / 10))
        return Samples(tenth.values) / Samples(best.values)

    def boundary(name: str) -> Samples:
        return results.samples("stability_boundary", name)

    def adadelta_at_1(problem: str) -> Finding:
        at_1 = results.samples("rates", "Adadelta", 1.0, problem=problem)
        return excess(at_1, at_best_rate(problem, "Adadelta"))

    def error(rule: str, features: str) -> Samples:
        """What is left of these features' squared error."""
        return results.samples("group_errors", rule, features=features)

    def error_left(rule: str) -> Finding:
        return over_seeds(error(rule, "rare"), "of the error at the start", better="less")

    def worst(ratios: Iterable[Samples]) -> Finding:
        """The largest ratio over problems, for each seed."""
        return over_seeds(combine(max, *ratios), EXCESS)

    def adagrad_starts(rate: float, turned: int = 0) -> Samples:
        return results.samples("starts", "AdaGrad", rate=rate, turned=turned)

    def lower_starts(one: Samples, other: Samples) -> Finding:
        """From how many starts one ends lower than the other, in percent."""
        lower = combine(lambda a, b: 100 * (a < b), one, other)
        return exact(of_whole(fmean, lower), "% of the starting directions")

    def starts_where_adagrad_ends_lower(rate: float, turned: int) -> Finding:
        """Than gradient descent at 0.4."""
        descent = results.samples("starts", "GD", rate=0.4, turned=turned)
        return lower_starts(adagrad_starts(rate, turned), descent)

    momentum, adam = after_epochs(2, "momentum 0.9", 0.005), after_epochs(2, "Adam", 0.01)
    torch_over_scratch = [
        after_epochs(2, rule, rate, "torch's optimizer") / after_epochs(2, rule, rate)
        for rule, rate in AS_THE_NOTES
    ]
    trace = [
        results.samples("trace", "AdaGrad", rate=0.4, coordinate=axis) for axis in ("x1", "x2")
    ]
    sums = [results.samples("geometric_sum", name) for name in ("summed", "the notes' formula")]
    return {
        **{
            f"starts_where_adagrad_2_ends_lower_percent_turned_{turned}": (
                starts_where_adagrad_ends_lower(2.0, turned)
            )
            for turned in (0, 45)
        },
        "starts_where_adagrad_2_ends_below_adagrad_04_percent": lower_starts(
            adagrad_starts(2.0), adagrad_starts(0.4)
        ),
        "starts_where_adagrad_ends_lower_percent_at_equal_rates": (
            starts_where_adagrad_ends_lower(0.4, 0)
        ),
        "adagrad_last_step": exact(
            of_whole(last_step_over_first, *trace), "of the first step's length"
        ),
        "effective_gradients": over_seeds(
            results.samples("gradient_averages", "effective samples of momentum 0.9"), "gradients"
        ),
        "worst_at_002_over_001": excess(
            results.samples("airfoil_worst", "momentum 0.9", rate=0.02),
            results.samples("airfoil_worst", "momentum 0.9", rate=0.01),
        ),
        "momentum_over_its_best": excess(
            *(
                results.samples("momentum_at", "momentum 0.9", chosen=chosen)
                for chosen in ("by the notes", "by other seeds")
            )
        ),
        "torch_over_scratch": over_seeds(
            combine(lambda *ratios: max(ratios, key=lambda r: abs(r - 1)), *torch_over_scratch),
            EXCESS,
        ),
        "concise_over_scratch": excess(after_epochs(2, "momentum 0.9", 0.005, "concise"), momentum),
        "concise_first_step": exact(
            first_step("concise") / first_step("from scratch"), "times the first step's length"
        ),
        **{
            f"constant_over_falling_{each}": excess(
                at_best_rate(each, "SGD"), at_best_rate(each, DECAYING)
            )
            for each in PROBLEMS
        },
        "steps_over_counts": excess(
            at_best_rate("sparse", DECAYING), at_best_rate("sparse", COUNTING)
        ),
        "constant_over_counts": excess(
            at_best_rate("sparse", "SGD"), at_best_rate("sparse", COUNTING)
        ),
        "falling_over_adagrad": excess(
            at_best_rate("sparse", DECAYING), at_best_rate("sparse", "AdaGrad")
        ),
        "sgd_over_adagrad_scales": excess(
            at_best_rate("ill", "SGD"), at_best_rate("ill", "AdaGrad")
        ),
        "sgd_over_adagrad_rare": excess(
            at_best_rate("sparse", "SGD"), at_best_rate("sparse", "AdaGrad")
        ),
        **{
            f"adagrad_over_its_best_rival_{name}": excess(
                at_best_rate(each, "AdaGrad"), at_best_rate(each, BEST_RIVAL)
            )
            for name, each in {**{p: p for p in PROBLEMS}, "rotated": ROTATED}.items()
        },
        "rare_over_common": ratio(
            error(DECAYING, "rare"), error(DECAYING, "common"), "times the error", Over.SEEDS
        ),
        "rare_left_by_steps": error_left(DECAYING),
        "rare_left_by_counts": error_left(COUNTING),
        "rare_left_by_adagrad": error_left("AdaGrad"),
        "growth_exponent": over_seeds(
            results.samples("adagrad_state", "growth exponent"),
            "as the exponent of t",
            possible=ANY,
        ),
        "adagrad_step_over_sgd": possible(
            ratio(
                results.samples("step_time", "step with AdaGrad"),
                results.samples("step_time", "step with SGD"),
                AS_LONG,
            ),
            Range(low=1 - SMALLEST_EFFECT),  # AdaGrad does more than SGD
        ),
        "spread_of_optimizers": over_seeds(
            combine(
                lambda *ends: max(ends) / min(ends),
                *(at_best_rate("airfoil", rule) for rule in RULES),
            ),
            EXCESS,
        ),
        "cost_of_a_tenth_of_the_rate": over_seeds(
            combine(lambda *costs: min(costs), *map(cost_of_a_tenth, RULES)), EXCESS
        ),
        "epsilon_inside_over_outside": excess(
            after_epochs(2, "Adam", 0.01, "epsilon inside"), adam
        ),
        "notes_epsilon_over_the_best": worst(
            with_epsilon(each, 1e-6) / results.samples("best_epsilon", "Adam", problem=each)
            for each in PROBLEMS
        ),
        "torchs_epsilon_over_the_notes": worst(
            with_epsilon(each, 1e-8) / with_epsilon(each, 1e-6) for each in PROBLEMS
        ),
        "uncorrected_over_corrected": excess(after_epochs(2, "Adam", 0.01, "uncorrected"), adam),
        **{
            f"rmsprop_over_adam_{name}": excess(
                corrected(2, "RMSProp", decay=decay),
                corrected(2, "Adam without momentum", decay=decay),
            )
            for name, decay in (("at_09", 0.9), ("at_0999", 0.999))
        },
        **{
            f"from_first_gradient_over_corrected_after_{epochs}": excess(
                corrected(epochs, "Adam from the first gradient"), corrected(epochs, "Adam")
            )
            for epochs in (2, 4)
        },
        "stability_error": exact(
            of_whole(farthest_apart, *(boundary(name) for name in ("measured", "2 + 2β"))),
            "away in lr·λ",
        ),
        **{f"adadelta_at_1_over_its_best_{each}": adadelta_at_1(each) for each in PROBLEMS},
        "sum_formula_error": exact(of_whole(last_error, *sums), "% of the sum"),
    }


def of_whole(function: Callable[..., float], *series: Samples) -> Samples:
    """The one number that a function makes of series, each with all its samples."""
    kinds = frozenset().union(*(each.device_kinds for each in series))
    lacking = next((each.missing for each in series if each.missing), None)
    found = () if lacking else (function(*(each.values for each in series)),)
    return Samples(found, kinds, lacking)


def last_step_over_first(x1: Sequence[float], x2: Sequence[float]) -> float:
    """The length of a trace's last step over that of its first."""
    first, last = (hypot(x1[i] - x1[i - 1], x2[i] - x2[i - 1]) for i in (1, -1))
    return last / first


def farthest_apart(numbers: Sequence[float], others: Sequence[float]) -> float:
    """The largest difference between counterparts."""
    return max(abs(a - b) for a, b in zip(numbers, others, strict=True))


def last_error(numbers: Sequence[float], others: Sequence[float]) -> float:
    """By how many percent of the last number its counterpart is off."""
    return 100 * abs(others[-1] / numbers[-1] - 1)
