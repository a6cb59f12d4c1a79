"""The numbers that optimizers' rows give, each derived once."""

from collections.abc import Callable, Iterable, Sequence
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
from lab.results.measurements import Results
from lab.results.stats import ANY, SMALLEST_EFFECT, Range
from stages.optimizers.measure.names import (
    ADAGRAD_LOWER_PERCENT,
    COUNTING,
    DECAYING,
    PROBLEMS,
    RULES,
)

METRICS = tuple(ADAGRAD_LOWER_PERCENT.values())
EXCESS = "times the excess loss"
AS_THE_NOTES = (("momentum 0.9", 0.005), ("AdaGrad", 0.1), ("Adam", 0.01))  # learning rates


def findings(results: Results) -> dict[str, Finding]:
    over_seeds = partial(median, over=Over.SEEDS)
    excess = partial(ratio, unit=EXCESS, over=Over.SEEDS)

    def after_two_epochs(rule: str, rate: float, version: str = "from scratch") -> Samples:
        """The excess of one of the notes' airfoil runs, on batches of 10."""
        return results.samples("airfoil_runs", rule, 2, rate=rate, batch_size=10, version=version)

    def at_best_rate(problem: str, rule: str) -> Samples:
        """The excess at a rule's best rate, which other seeds have chosen."""
        return results.samples("best_rate", rule, problem=problem)

    def with_epsilon(problem: str, epsilon: float) -> Samples:
        """Adam's excess at its best rate."""
        return results.samples("epsilons", "Adam", epsilon, problem=problem)

    def corrected(rule: str, **columns: float) -> Samples:
        """A rule's excess after two epochs, each seed's mean of many runs."""
        return results.samples("bias_correction", rule, 2, **columns)

    def error(rule: str, features: str) -> Samples:
        """What is left of these features' squared error."""
        return results.samples("group_errors", rule, features=features)

    def error_left(rule: str) -> Finding:
        return over_seeds(error(rule, "rare"), "of the error at the start", better="less")

    def worst(ratios: Iterable[Samples]) -> Finding:
        """The largest ratio over problems, for each seed."""
        return over_seeds(combine(max, *ratios), EXCESS)

    def starts_where_adagrad_ends_lower(rate: float, turned: int) -> Finding:
        """Than gradient descent at 0.4, in percent."""
        adagrad = results.samples("starts", "AdaGrad", rate=rate, turned=turned)
        descent = results.samples("starts", "GD", rate=0.4, turned=turned)
        lower = combine(lambda a, b: 100 * (a < b), adagrad, descent)
        return exact(of_whole(fmean, lower), "% of the starting directions")

    momentum, adam = after_two_epochs("momentum 0.9", 0.005), after_two_epochs("Adam", 0.01)
    torch_over_scratch = [
        after_two_epochs(rule, rate, "torch's optimizer") / after_two_epochs(rule, rate)
        for rule, rate in AS_THE_NOTES
    ]
    adams_decades, *others_decades = (
        results.samples("decades_near_the_best", rule)
        for rule in ("Adam", *(rule for rule in RULES if rule != "Adam"))
    )
    trace = [
        results.samples("trace", "AdaGrad", rate=0.4, coordinate=axis) for axis in ("x1", "x2")
    ]
    sums = [results.samples("geometric_sum", name) for name in ("summed", "the notes' formula")]
    return {
        **{
            name: starts_where_adagrad_ends_lower(2.0, turned)
            for turned, name in ADAGRAD_LOWER_PERCENT.items()
        },
        "starts_where_adagrad_ends_lower_percent_at_equal_rates": (
            starts_where_adagrad_ends_lower(0.4, 0)
        ),
        "adagrad_last_step": exact(
            of_whole(last_step_over_first, *trace), "of the first step's length"
        ),
        "effective_gradients": over_seeds(
            results.samples("gradient_averages", "effective samples of momentum 0.9"), "gradients"
        ),
        "momentum_worst": over_seeds(
            results.samples("airfoil_worst", "momentum 0.9", rate=0.02),
            "of the excess at the start",
        ),
        "momentum_over_its_best": excess(momentum, at_best_rate("airfoil", "momentum 0.9")),
        "torch_over_scratch": over_seeds(
            combine(lambda *ratios: max(ratios, key=lambda r: abs(r - 1)), *torch_over_scratch),
            EXCESS,
        ),
        "concise_over_scratch": excess(
            after_two_epochs("momentum 0.9", 0.005, "concise"), momentum
        ),
        "constant_over_falling": excess(
            at_best_rate("airfoil", "SGD"), at_best_rate("airfoil", DECAYING)
        ),
        "steps_over_counts": excess(
            at_best_rate("sparse", DECAYING), at_best_rate("sparse", COUNTING)
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
        "adagrad_over_the_best": worst(
            at_best_rate(each, "AdaGrad") / at_best_rate(each, "the best rule") for each in PROBLEMS
        ),
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
        "adam_rank": over_seeds(
            combine(
                lambda adam, *others: 1 + sum(other > adam for other in others),
                adams_decades,
                *others_decades,
            ),
            "of 9 in rank",
        ),
        "epsilon_inside_over_outside": excess(
            after_two_epochs("Adam", 0.01, "epsilon inside"), adam
        ),
        "notes_epsilon_over_the_best": worst(
            with_epsilon(each, 1e-6) / results.samples("best_epsilon", "Adam", problem=each)
            for each in PROBLEMS
        ),
        "torchs_epsilon_over_the_notes": worst(
            with_epsilon(each, 1e-8) / with_epsilon(each, 1e-6) for each in PROBLEMS
        ),
        "uncorrected_over_corrected": excess(after_two_epochs("Adam", 0.01, "uncorrected"), adam),
        "rmsprop_over_adam": excess(
            corrected("RMSProp", decay=0.999), corrected("Adam without momentum", decay=0.999)
        ),
        "from_first_gradient_over_corrected": excess(
            corrected("Adam from the first gradient"), corrected("Adam")
        ),
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


def last_error(numbers: Sequence[float], others: Sequence[float]) -> float:
    """By how many percent of the last number its counterpart is off."""
    return 100 * abs(others[-1] / numbers[-1] - 1)
