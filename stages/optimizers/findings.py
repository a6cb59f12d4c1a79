"""The numbers derived from optimizers' rows."""

from collections.abc import Callable, Sequence
from functools import partial
from math import hypot
from statistics import fmean

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
from lab.results.measurements import Cell, Results
from lab.results.stats import ANY, SMALLEST_EFFECT, Range
from stages.optimizers.measure.names import BEST_RIVAL, COUNTING, DECAYING, PROBLEMS, ROTATED, RULES

METRICS = (
    "starts_where_adagrad_2_ends_lower_percent_turned_0",
    "starts_where_adagrad_2_ends_lower_percent_turned_45",
)
OF_TIMES = False  # the page shows no times
EXCESS = "times the excess loss"
AS_THE_NOTES = (("momentum 0.9", 0.005), ("AdaGrad", 0.1), ("Adam", 0.01))  # learning rates

over_seeds = partial(median, over=Over.SEEDS)
excess = partial(ratio, unit=EXCESS, over=Over.SEEDS)


def findings(results: Results) -> dict[str, Finding]:
    return (
        momentum(results)
        | notes_runs(results)
        | adagrad_starts(results)
        | adagrad(results)
        | adam(results)
        | best_rates(results)
    )


def momentum(results: Results) -> dict[str, Finding]:
    """Return momentum's averages and its stability (12.6)."""
    samples = results.samples
    sums = [samples("geometric_sum", name) for name in ("summed", "the notes' formula")]
    boundary = [samples("stability_boundary", name) for name in ("measured", "2 + 2β")]
    first_step = partial(samples, "first_step", "momentum 0.9")
    return {
        "effective_gradients": over_seeds(
            samples("gradient_averages", "effective samples of momentum 0.9"), "gradients"
        ),
        "sum_formula_error": exact(of_whole(last_error, *sums), "% of the sum"),
        "stability_error": exact(of_whole(farthest_apart, *boundary), "away in lr·λ"),
        "concise_first_step": exact(
            first_step(version="concise") / first_step(version="from scratch"),
            "times the first step's length",
        ),
        "worst_at_002_over_001": excess(
            samples("airfoil_worst", "momentum 0.9", rate=0.02),
            samples("airfoil_worst", "momentum 0.9", rate=0.01),
        ),
        "momentum_over_its_best": excess(
            samples("momentum_at", "momentum 0.9", chosen="by the notes"),
            samples("momentum_at", "momentum 0.9", chosen="by other seeds"),
        ),
    }


def notes_runs(results: Results) -> dict[str, Finding]:
    """Compare versions of the notes' airfoil runs after two epochs."""

    def after(rule: str, rate: float, version: str = "from scratch") -> Samples:
        return results.samples("airfoil_runs", rule, 2, rate=rate, batch_size=10, version=version)

    def against_adam(version: str) -> Finding:
        return excess(after("Adam", 0.01, version), after("Adam", 0.01))

    torch_over_scratch = (
        after(rule, rate, "torch's optimizer") / after(rule, rate) for rule, rate in AS_THE_NOTES
    )
    return {
        "torch_over_scratch": over_seeds(
            combine(lambda *ratios: max(ratios, key=lambda r: abs(r - 1)), *torch_over_scratch),
            EXCESS,
        ),
        "concise_over_scratch": excess(
            after("momentum 0.9", 0.005, "concise"), after("momentum 0.9", 0.005)
        ),
        "epsilon_inside_over_outside": against_adam("epsilon inside"),
        "uncorrected_over_corrected": against_adam("uncorrected"),
    }


def adagrad_starts(results: Results) -> dict[str, Finding]:
    """Return the percentage of starting directions from which AdaGrad ends lower (12.7)."""

    def ends(rule: str, rate: float, turned: int = 0) -> Samples:
        return results.samples("starts", rule, rate=rate, turned=turned)

    def lower(one: Samples, other: Samples) -> Finding:
        percent = combine(lambda a, b: 100 * (a < b), one, other)
        return exact(of_whole(fmean, percent), "% of the starting directions")

    return {
        "starts_where_adagrad_2_ends_lower_percent_turned_0": lower(
            ends("AdaGrad", 2.0), ends("GD", 0.4)
        ),
        "starts_where_adagrad_2_ends_lower_percent_turned_45": lower(
            ends("AdaGrad", 2.0, 45), ends("GD", 0.4, 45)
        ),
        "starts_where_adagrad_2_ends_below_adagrad_04_percent": lower(
            ends("AdaGrad", 2.0), ends("AdaGrad", 0.4)
        ),
        "starts_where_adagrad_ends_lower_percent_at_equal_rates": lower(
            ends("AdaGrad", 0.4), ends("GD", 0.4)
        ),
    }


def adagrad(results: Results) -> dict[str, Finding]:
    """Return how AdaGrad's steps shrink, a step's time, and the gain on rare features (12.7)."""
    samples = results.samples
    trace = [samples("trace", "AdaGrad", rate=0.4, coordinate=axis) for axis in ("x1", "x2")]

    def error(rule: str, features: str) -> Samples:
        """Return the remaining share of these features' squared error."""
        return samples("group_errors", rule, features=features)

    def rare_left(rule: str) -> Finding:
        return over_seeds(error(rule, "rare"), "of the error at the start", better="less")

    return {
        "adagrad_last_step": exact(
            of_whole(last_step_over_first, *trace), "of the first step's length"
        ),
        "growth_exponent": over_seeds(
            samples("adagrad_state", "growth exponent"), "as the exponent of t", possible=ANY
        ),
        "adagrad_step_over_sgd": possible(
            ratio(
                samples("step_time", "step with AdaGrad"),
                samples("step_time", "step with SGD"),
                AS_LONG,
            ),
            Range(low=1 - SMALLEST_EFFECT),  # AdaGrad does more than SGD
        ),
        "rare_over_common": ratio(
            error(DECAYING, "rare"), error(DECAYING, "common"), "times the error", Over.SEEDS
        ),
        "rare_left_by_steps": rare_left(DECAYING),
        "rare_left_by_counts": rare_left(COUNTING),
        "rare_left_by_adagrad": rare_left("AdaGrad"),
    }


def adam(results: Results) -> dict[str, Finding]:
    """Return the effects of Adam's epsilon and of its bias correction (12.10)."""

    def with_epsilon(problem: str, epsilon: float) -> Samples:
        """Return Adam's excess at its best rate."""
        return results.samples("epsilons", "Adam", epsilon, problem=problem)

    def corrected(epochs: int, rule: str, **columns: Cell) -> Samples:
        """Return a rule's excess, for each seed the mean of many runs."""
        return results.samples("bias_correction", rule, epochs, **columns)

    def rmsprop_over_adam(decay: float) -> Finding:
        return excess(
            corrected(2, "RMSProp", decay=decay), corrected(2, "Adam without momentum", decay=decay)
        )

    def from_first_gradient(epochs: int) -> Finding:
        return excess(corrected(epochs, "Adam from the first gradient"), corrected(epochs, "Adam"))

    of_notes = [
        with_epsilon(each, 1e-6) / results.samples("best_epsilon", "Adam", problem=each)
        for each in PROBLEMS
    ]
    of_torch = [with_epsilon(each, 1e-8) / with_epsilon(each, 1e-6) for each in PROBLEMS]
    return {  # for epsilon: each seed's largest ratio over the problems
        "notes_epsilon_over_the_best": over_seeds(combine(max, *of_notes), EXCESS),
        "torchs_epsilon_over_the_notes": over_seeds(combine(max, *of_torch), EXCESS),
        "rmsprop_over_adam_at_09": rmsprop_over_adam(0.9),
        "rmsprop_over_adam_at_0999": rmsprop_over_adam(0.999),
        "from_first_gradient_over_corrected_after_2": from_first_gradient(2),
        "from_first_gradient_over_corrected_after_4": from_first_gradient(4),
    }


def best_rates(results: Results) -> dict[str, Finding]:
    """Compare optimizers at their best learning rates, which other seeds chose."""

    def best(problem: str, rule: str) -> Samples:
        return results.samples("best_rate", rule, problem=problem)

    def at_best(problem: str, one: str, other: str) -> Finding:
        return excess(best(problem, one), best(problem, other))

    def adadelta_at_1(problem: str) -> Finding:
        at_1 = results.samples("rates", "Adadelta", 1.0, problem=problem)
        return excess(at_1, best(problem, "Adadelta"))

    on_airfoil = [best("airfoil", rule) for rule in RULES]
    tenths = [cost_of_a_tenth(results, rule) for rule in RULES]
    return {
        "constant_over_falling_airfoil": at_best("airfoil", "SGD", DECAYING),
        "constant_over_falling_ill": at_best("ill", "SGD", DECAYING),
        "constant_over_falling_sparse": at_best("sparse", "SGD", DECAYING),
        "steps_over_counts": at_best("sparse", DECAYING, COUNTING),
        "constant_over_counts": at_best("sparse", "SGD", COUNTING),
        "falling_over_adagrad": at_best("sparse", DECAYING, "AdaGrad"),
        "sgd_over_adagrad_scales": at_best("ill", "SGD", "AdaGrad"),
        "sgd_over_adagrad_rare": at_best("sparse", "SGD", "AdaGrad"),
        "adagrad_over_its_best_rival_airfoil": at_best("airfoil", "AdaGrad", BEST_RIVAL),
        "adagrad_over_its_best_rival_ill": at_best("ill", "AdaGrad", BEST_RIVAL),
        "adagrad_over_its_best_rival_sparse": at_best("sparse", "AdaGrad", BEST_RIVAL),
        "adagrad_over_its_best_rival_rotated": at_best(ROTATED, "AdaGrad", BEST_RIVAL),
        "adadelta_at_1_over_its_best_airfoil": adadelta_at_1("airfoil"),
        "adadelta_at_1_over_its_best_ill": adadelta_at_1("ill"),
        "adadelta_at_1_over_its_best_sparse": adadelta_at_1("sparse"),
        "spread_of_optimizers": over_seeds(
            combine(lambda *ends: max(ends) / min(ends), *on_airfoil), EXCESS
        ),
        "cost_of_a_tenth_of_the_rate": over_seeds(
            combine(lambda *costs: min(costs), *tenths), EXCESS
        ),
    }


def cost_of_a_tenth(results: Results, rule: str) -> Samples:
    """Return the excess on airfoil at a tenth of the best rate relative to the best rate."""
    best = results.one("best_rate", rule, problem="airfoil")  # other seeds chose the rate
    tenth = best.x / 10 if best else 0.0
    rates = results.xs("rates", rule, problem="airfoil")
    nearest = min(rates, key=lambda rate: abs(rate - tenth), default=tenth)
    at_tenth = results.samples("rates", rule, nearest, problem="airfoil")
    return at_tenth / results.samples("best_rate", rule, problem="airfoil")


def of_whole(function: Callable[..., float], *series: Samples) -> Samples:
    """Apply a function to whole series; return its one number as a sample."""
    kinds = frozenset().union(*(each.device_kinds for each in series))
    lacking = next((each.missing for each in series if each.missing), None)
    found = () if lacking else (function(*(each.values for each in series)),)
    return Samples(found, kinds, lacking)


def last_step_over_first(x1: Sequence[float], x2: Sequence[float]) -> float:
    """Return the length of a trace's last step relative to its first step."""
    first, last = (hypot(x1[i] - x1[i - 1], x2[i] - x2[i - 1]) for i in (1, -1))
    return last / first


def farthest_apart(numbers: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(numbers, others, strict=True))


def last_error(numbers: Sequence[float], others: Sequence[float]) -> float:
    """Return the relative error of the last number's counterpart, in percent."""
    return 100 * abs(others[-1] / numbers[-1] - 1)
