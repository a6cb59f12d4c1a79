"""What the notes claim about what `optimizers` measures, and the rules that decide."""

from collections.abc import Sequence
from itertools import pairwise
from math import atan2, degrees, pi

from lab.claims.evidence import Column, Metric
from lab.claims.needs import real_airfoil, real_images
from lab.claims.rules import (
    FASTER,
    POINTS,
    Estimate,
    Over,
    Range,
    Rule,
    at_least,
    at_most,
    difference,
    exact,
    median,
    near,
    paired_difference,
    point,
    samples,
    series,
    speedup,
)
from lab.claims.verdicts import Claim, Kind, Unmeasured
from lab.results.stats import SMALLEST_EFFECT
from stages.optimizers.measure import names

STAGE = "optimizers"
SAME = Range(1 / (1 + SMALLEST_EFFECT), 1 + SMALLEST_EFFECT)
NOT_WORSE = at_most(1 + SMALLEST_EFFECT)
RANKED = (names.ADAM, *(rule for rule in names.RULES if rule != names.ADAM))
EXCESS, ERROR, STARTS = "times the excess loss", "times the error", "% of the starting directions"


def of(demo: str, name: str) -> Column:
    """The read of a series: the value for each seed, or for each start."""
    return series(STAGE, demo, name)


def excess_ratio(old: Column, new: Column, holds: Range) -> Rule:
    """The rule of a ratio of two excesses, paired by seed."""
    return speedup(old, new, holds, EXCESS, Over.SEEDS)


def trace(name: str) -> list[Column]:
    """A trace's points, x1 and x2."""
    return [series(STAGE, names.TRACE, name, axis) for axis in ("x", "y")]


def last_step_over_first(x1: Sequence[float], x2: Sequence[float]) -> Estimate:
    """The length of a trace's last step over that of its first."""
    first, last = (((x1[i] - x1[i - 1]) ** 2 + (x2[i] - x2[i - 1]) ** 2) ** 0.5 for i in (1, -1))
    return point(last / first)


def turning(x1: Sequence[float], x2: Sequence[float]) -> float:
    """By how many degrees a trace turns from step to step, all in all."""
    headings = [
        atan2(after2 - before2, after1 - before1)
        for (before1, after1), (before2, after2) in zip(pairwise(x1), pairwise(x2), strict=True)
    ]
    turns = [abs(after - before) for before, after in pairwise(headings)]
    return degrees(sum(min(turn, 2 * pi - turn) for turn in turns))


def turning_ratio(*traces: Sequence[float]) -> Estimate:
    """How much one trace turns over how much another does."""
    x1, x2, other_x1, other_x2 = traces
    return point(turning(x1, x2) / turning(other_x1, other_x2))


def quadratic_ratio(*traces: Sequence[float]) -> Estimate:
    """The book's quadratic at the end (x1, x2) of one trace over its value at another's."""
    x1, x2, other_x1, other_x2 = [numbers[-1] for numbers in traces]
    return point((0.1 * x1**2 + 2 * x2**2) / (0.1 * other_x1**2 + 2 * other_x2**2))


def share_lower(numbers: Sequence[float], others: Sequence[float]) -> Estimate:
    """How often a number lies under its counterpart, in percent."""
    return point(100 * sum(a < b for a, b in zip(numbers, others, strict=True)) / len(numbers))


def least_at_the_end(*columns: Sequence[float]) -> Estimate:
    """The smallest of the columns' last numbers."""
    return point(min(numbers[-1] for numbers in columns))


def largest_error(numbers: Sequence[float], others: Sequence[float]) -> Estimate:
    """By how many percent of a number its counterpart is off at most."""
    return point(max(100 * abs(b / a - 1) for a, b in zip(numbers, others, strict=True)))


def worst_ratio(*ends: Sequence[float]) -> Estimate:
    """The largest ratio over problems for each seed; `ends` are each problem's two columns."""
    pairs = zip(ends[::2], ends[1::2], strict=True)
    ratios = [[a / b for a, b in zip(one, other, strict=True)] for one, other in pairs]
    return median([max(of_seed) for of_seed in zip(*ratios, strict=True)], Over.SEEDS)


def rank_of_the_first(*decades: Sequence[float]) -> Estimate:
    """The rank of the first of RANKED for each seed, those before it having more decades."""
    ranks = [1 + sum(d > of_seed[0] for d in of_seed) for of_seed in zip(*decades, strict=True)]
    return median(ranks, Over.SEEDS)


def in_points(one: Sequence[float], other: Sequence[float]) -> Estimate:
    """The difference of two shares in percentage points, paired by seed."""
    return paired_difference([100 * share for share in one], [100 * share for share in other])


def over_problems(demos: dict[str, str], one: str, other: str, holds: Range) -> Rule:
    """The rule of the largest ratio of two excesses over problems, paired by seed."""
    reads = [of(demos[problem], name) for problem in names.PROBLEMS for name in (one, other)]
    return Rule(reads, worst_ratio, holds, EXCESS)


CLAIMS = (
    Claim(
        "F5a",
        "12.6",
        Kind.SAID,
        "001:93",
        "Momentum keeps a velocity of the same shape as the gradient.",
        "Numbers of torch.optim.SGD's state for LeNet, of those shaped as their gradient, over the"
        " number of parameters.",
        exact(of(names.STATE_SIZE, names.MOMENTUM), Range(1, 1), "per parameter"),
        "“Same shape”: a number for each parameter, no more and no fewer.",
    ),
    Claim(
        "F7a",
        "12.6",
        Kind.SAID,
        "001:122",
        "Momentum 0.9 amounts to 1/(1 − 0.9) = 10 effective samples.",
        "How often the variance of the averaged gradient goes into that of a single one, for"
        " independent airfoil gradients.",
        samples(
            of(names.AVERAGES, names.EFFECTIVE_NUMBER), near(10, 1), "effective samples", Over.SEEDS
        ),
        "A tenth of 10. The weights add up to 10, but a mean over n samples has 1/n of the"
        " variance: (1 + β)/(1 − β) = 19.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F8a",
        "12.6",
        Kind.SAID,
        "001:122",
        "With the rate lowered to 0.01, momentum 0.9 stays under control.",
        "Largest excess over the exact minimum after the first epoch, over that of the start.",
        samples(
            of(names.WORST, names.MOMENTUM_001),
            at_most(1),
            "of the excess at the start",
            Over.SEEDS,
        ),
        "“Under control”: it never comes back to where it started.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F8b",
        "12.6",
        Kind.ASKED,
        "001:122",
        "Lowering the rate from 0.02 to 0.01 makes up for raising momentum from 0.5 to 0.9.",
        "Excess over the exact minimum after two epochs: (0.01, 0.9) over (0.02, 0.5), paired by"
        " seed.",
        excess_ratio(
            of(names.ENDS, names.MOMENTUM_001), of(names.ENDS, names.MOMENTUM_05_002), NOT_WORSE
        ),
        "“Makes up for”: no larger an excess, 2 % allowed as everywhere. The effective rate lr/(1 −"
        " β) rises.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F8c",
        "12.6",
        Kind.ASKED,
        "001:122",
        "Without lowering the rate, at 0.02, momentum 0.9 gets out of control.",
        "Largest excess after the first epoch at rate 0.02, over that of the start.",
        samples(
            of(names.WORST, names.MOMENTUM_002),
            at_least(1),
            "of the excess at the start",
            Over.SEEDS,
        ),
        "“Out of control”: the opposite of what is asked of rate 0.01.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F9a",
        "12.6",
        Kind.SAID,
        "001:128",
        "Momentum 0.9 at rate 0.005 converges well on the airfoil regression.",
        "Excess after two epochs over that at the best of many rates, chosen with other seeds.",
        excess_ratio(
            of(names.ENDS, names.MOMENTUM_0005),
            of(names.BEST_ENDS[names.AIRFOIL], names.MOMENTUM),
            at_most(names.NEAR),
        ),
        "“Well”: at most twice the excess of the best rate; one step of the sweep's rates is a"
        " factor of 1.6.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F9b",
        "12.6",
        Kind.SAID,
        "001:128",
        "With momentum 0.9, lowering the rate further, from 0.01 to 0.005, converges better.",
        "Excess over the exact minimum: rate 0.01 over rate 0.005, paired by seed.",
        excess_ratio(
            of(names.ENDS, names.MOMENTUM_001), of(names.ENDS, names.MOMENTUM_0005), FASTER
        ),
        "“Better”: by more than 2 %.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F9c",
        "12.6",
        Kind.SAID,
        "001:128",
        "Lowering the rate resolves the difficulties of any non-smooth problem.",
        "Mean absolute error of an ill-conditioned regression after two epochs of momentum 0.9:"
        " rate 0.005 over 0.01.",
        speedup(
            of(names.NON_SMOOTH, names.MOMENTUM_0005),
            of(names.NON_SMOOTH, names.MOMENTUM_001),
            NOT_WORSE,
            ERROR,
            Over.SEEDS,
        ),
        "“Any” is refuted by one problem that a lower rate makes worse: here, by more than 2 %.",
    ),
    Claim(
        "F10a",
        "12.6",
        Kind.SAID,
        "001:134-138",
        "torch.optim's momentum is the algorithm written from scratch, said concisely.",
        "Excess after two epochs from the same starts, with the same loss and batches: torch's over"
        " the one from scratch.",
        excess_ratio(
            of(names.ONLY_THE_OPTIMIZER, names.MOMENTUM_0005),
            of(names.ENDS, names.MOMENTUM_0005),
            SAME,
        ),
        "“The algorithm”: within 2 %.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F10b",
        "12.6",
        Kind.SAID,
        "001:134-138",
        "The concise momentum run has the settings of the run from scratch.",
        "Excess after two epochs each: the concise run as the notes have it over the one from"
        " scratch.",
        excess_ratio(
            of(names.AFTER_TWO_EPOCHS, names.MOMENTUM_0005),
            of(names.ENDS, names.MOMENTUM_0005),
            SAME,
        ),
        "“The settings”: within 2 %. torch's MSELoss lacks the half, which doubles the rate.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F11a",
        "12.7",
        Kind.SAID,
        "001:143",
        "For good accuracy the rate should fall in training, about as t^−1/2.",
        "Excess on the airfoil regression, each at its best rate: SGD at a constant rate over SGD"
        " at a falling one.",
        excess_ratio(
            of(names.BEST_ENDS[names.AIRFOIL], names.SGD),
            of(names.BEST_ENDS[names.AIRFOIL], names.DECAYING),
            FASTER,
        ),
        "“Good”: lower by more than 2 %, each rate chosen with other seeds. The notes speak of a"
        " language model; this is their own regression.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F11b",
        "12.7",
        Kind.SAID,
        "001:148",
        "The parameters of a rare feature are updated only when it occurs.",
        "Share of SGD's steps without the rarest feature in the batch in which its weight moves.",
        exact(of(names.UPDATES_WHEN_ABSENT, names.SGD), at_most(0), "% of these steps"),
        "“Only”: never else.",
    ),
    Claim(
        "F11c",
        "12.7",
        Kind.SAID,
        "001:149-152",
        "As the rate falls, common features converge soon while rare ones are still far off.",
        "Error of rare features' weights over that of common ones', SGD with a rate that falls as"
        " t^−1/2.",
        speedup(
            of(names.GROUP_ERRORS, names.of_group(names.DECAYING, names.RARE)),
            of(names.GROUP_ERRORS, names.of_group(names.DECAYING, names.COMMON)),
            at_least(names.NEAR),
            ERROR,
            Over.SEEDS,
        ),
        "“Still far off”: at least twice the error. Common: in a tenth of the rows; rare: in one of"
        " thirty at most.",
    ),
    Claim(
        "F11d",
        "12.7",
        Kind.SAID,
        "001:154",
        "Counting how often a feature was seen, to set its rate, helps with rare features.",
        "Excess on sparse regression, each at its best rate: a rate that falls with steps over one"
        " that falls with counts.",
        excess_ratio(
            of(names.BEST_ENDS[names.SPARSE], names.DECAYING),
            of(names.BEST_ENDS[names.SPARSE], names.COUNTING),
            FASTER,
        ),
        "“Helps”: by more than 2 %.",
    ),
    Claim(
        "F11e",
        "12.7",
        Kind.ASKED,
        "001:154-171",
        "AdaGrad does better on sparse features than one falling rate for all.",
        "Excess on sparse regression, each at its best rate: SGD with a rate that falls as t^−1/2"
        " over AdaGrad.",
        excess_ratio(
            of(names.BEST_ENDS[names.SPARSE], names.DECAYING),
            of(names.BEST_ENDS[names.SPARSE], names.ADAGRAD),
            FASTER,
        ),
        "“Better”: by more than 2 %. Both rates fall, so that what differs is who has his own.",
    ),
    Claim(
        "F11f",
        "12.7",
        Kind.SAID,
        "001:154",
        "One falling rate for all falls too slowly for common features or too fast for rare ones.",
        "Error of rare features' weights, each at its best rate: SGD with a falling rate over SGD"
        " with a constant one.",
        speedup(
            of(names.GROUP_ERRORS, names.of_group(names.DECAYING, names.RARE)),
            of(names.GROUP_ERRORS, names.of_group(names.SGD, names.RARE)),
            FASTER,
            ERROR,
            Over.SEEDS,
        ),
        "“Too fast”: without the fall they end nearer, by more than 2 %. One of the two suffices.",
    ),
    Claim(
        "F12a",
        "12.7",
        Kind.SAID,
        "001:173",
        "AdaGrad's sum of squared gradients grows about linearly, so its rate falls as t^−1/2.",
        "Exponent with which the sum grows on the airfoil regression, fitted after step 300.",
        samples(
            of(names.ADAGRAD_STATE, names.EXPONENT),
            near(1, 0.1),
            "as the exponent of t",
            Over.SEEDS,
        ),
        "“About”: a tenth either way.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F12b",
        "12.7",
        Kind.SAID,
        "001:171",
        "AdaGrad does not make a step noticeably dearer than SGD does.",
        "Time of a whole training step of LeNet on 256 images: with torch's AdaGrad over with its"
        " SGD.",
        speedup(
            of(names.STEP_TIME, names.ADAGRAD_STEP),
            of(names.STEP_TIME, names.SGD_STEP),
            at_most(1.1),
            "times as long",
        ),
        "“Noticeably”: over a tenth.",
    ),
    Claim(
        "F12c",
        "12.7",
        Kind.SAID,
        "001:171",
        "The loss and its gradient are the main part of the computation.",
        "Time of LeNet's loss and gradient on 256 images over that of a whole step with AdaGrad.",
        speedup(
            of(names.STEP_TIME, names.LOSS_AND_GRADIENT),
            of(names.STEP_TIME, names.ADAGRAD_STEP),
            at_least(0.5),
            "of a whole step",
        ),
        "“Main part”: over half.",
    ),
    Claim(
        "F12d",
        "12.7",
        Kind.SAID,
        "001:173",
        "AdaGrad's sum of squared gradients grows a bit more slowly than linearly.",
        "The same exponent.",
        samples(
            of(names.ADAGRAD_STATE, names.EXPONENT),
            Range(0.9, 1),
            "as the exponent of t",
            Over.SEEDS,
        ),
        "“A bit more slowly”: under 1, by at most a tenth.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F12e",
        "12.7",
        Kind.SAID,
        "001:173",
        "For convex problems AdaGrad's t^−1/2 is entirely enough.",
        "Excess of AdaGrad over that of the best of nine rules, each at its best rate: the worst of"
        " three convex regressions.",
        over_problems(names.BEST_ENDS, names.ADAGRAD, names.BEST_RULE, at_most(names.NEAR)),
        "“Entirely enough”: on none more than twice the excess of the best; rule and rates are"
        " chosen with other seeds.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F13a",
        "12.7",
        Kind.SAID,
        "001:180",
        "AdaGrad at rate 0.4 moves only a little in the later steps.",
        "Length of its last of 20 steps over that of its first.",
        Rule(
            trace(names.ADAGRAD_04),
            last_step_over_first,
            at_most(round(20**-0.5, 3)),
            "of the first step's length",
        ),
        "“Only a little”: no more than a rate that falls as t^−1/2 leaves after 20 steps.",
    ),
    Claim(
        "F13b",
        "12.7",
        Kind.SAID,
        "001:180",
        "AdaGrad's path at rate 0.4 is rather smooth.",
        "Angles by which it turns from step to step, added up, over those of descent at the same"
        " rate.",
        Rule(
            [*trace(names.ADAGRAD_04), *trace(names.GD_04)],
            turning_ratio,
            at_most(0.5),
            "times as much turning",
        ),
        "“Rather smooth”: at most half of the turning of the method that it is set against.",
    ),
    Claim(
        "F14a",
        "12.7",
        Kind.SAID,
        "001:203",
        "AdaGrad at rate 2 does better than at 0.4 from the notes' start.",
        "The quadratic after 20 steps: at rate 0.4 over at rate 2.",
        Rule(
            [*trace(names.ADAGRAD_04), *trace(names.ADAGRAD_2)],
            quadratic_ratio,
            FASTER,
            "times as high at rate 0.4 as at 2",
        ),
        "“Better”: lower by more than 2 %.",
    ),
    Claim(
        "F14b",
        "12.7",
        Kind.ASKED,
        "001:203",
        "That rate 2 does better than 0.4 is the method's merit, not the start's nor the axes'.",
        "Directions, of all around, from which rate 2 ends lower than 0.4, on axes turned by 45"
        " degrees.",
        Rule(
            [of(names.STARTS[45], name) for name in (names.ADAGRAD_2, names.ADAGRAD_04)],
            share_lower,
            at_least(50),
            STARTS,
        ),
        "“Better”: from most directions.",
    ),
    Claim(
        "F14c",
        "12.7",
        Kind.ASKED,
        "001:203",
        "AdaGrad with its large rate does better than descent with one rate for all coordinates.",
        "Directions from which AdaGrad at 2 ends lower than descent at 0.4, on axes turned by 45"
        " degrees.",
        exact(Metric(STAGE, names.ADAGRAD_LOWER_PERCENT[45]), at_least(50), STARTS),
        "“Better”: from most directions, on a quadratic whose axes are not the coordinates'.",
    ),
    Claim(
        "F14d",
        "12.7",
        Kind.SAID,
        "001:203",
        "Even without noise AdaGrad's rate can fall drastically.",
        "Rate of a coordinate at the last of 20 steps over that at the first, at rate 0.4: the"
        " smaller of the two.",
        Rule(
            [of(names.ADAGRAD_RATES, name) for name in names.COORDINATES],
            least_at_the_end,
            at_most(0.5),
            "of the first learning rate",
        ),
        "“Drastically”: to less than half within the notes' 20 steps.",
    ),
    Claim(
        "F15a",
        "12.7",
        Kind.SAID,
        "001:211",
        "AdaGrad, too, keeps a state of the same shape for each variable.",
        "Numbers of torch.optim.Adagrad's state for LeNet, of those shaped as their gradient, over"
        " the number of parameters.",
        exact(of(names.STATE_SIZE, names.ADAGRAD), Range(1, 1), "per parameter"),
        "“Same shape”: a number for each parameter, no more and no fewer.",
    ),
    Claim(
        "F15b",
        "12.7",
        Kind.SAID,
        "001:167",
        "Epsilon keeps AdaGrad from dividing by 0.",
        "Weights that are no numbers after a step on sparse features: without epsilon, less those"
        " with it.",
        difference(
            of(names.BROKEN, names.WITHOUT_EPSILON),
            of(names.BROKEN, names.WITH_EPSILON),
            at_least(1),
            "weights more",
        ),
        "“Keeps from”: what breaks without it does not with it.",
    ),
    Claim(
        "F15c",
        "12.7",
        Kind.SAID,
        "001:156 001:256",
        "What AdaGrad adds up, and Adam averages, are the gradients' variances.",
        "Sum of squared gradients over that of squared deviations from their mean, two epochs of"
        " AdaGrad on airfoil.",
        samples(
            of(names.ADAGRAD_STATE, names.OVER_VARIANCE),
            near(1, 0.1),
            "times the variance",
            Over.SEEDS,
        ),
        "A tenth: it is the second moment, which equals the variance where noise outweighs the"
        " mean.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F16a",
        "12.7",
        Kind.SAID,
        "001:234-239",
        "torch.optim's AdaGrad can be used straight for the one written from scratch.",
        "Excess after two epochs from the same starts, with the same loss and batches: torch's"
        " AdaGrad over the one from scratch.",
        excess_ratio(
            of(names.ONLY_THE_OPTIMIZER, names.ADAGRAD_01), of(names.ENDS, names.ADAGRAD_01), SAME
        ),
        "The same within 2 %; torch's epsilon is 1e-10 beside the root, the notes' 1e-6 inside.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F16b",
        "12.7",
        Kind.SAID,
        "001:175",
        "In deep learning one may want rates that fall more slowly than AdaGrad's.",
        "Test accuracy of a network of four layers on 14 x 14 pixels, each at its best rate:"
        " RMSProp, whose sum leaks, less AdaGrad.",
        Rule(
            [of(names.DEEP_NET_ENDS, name) for name in (names.RMSPROP, names.ADAGRAD)],
            in_points,
            at_least(1),
            POINTS,
        ),
        "“May want”: a point of accuracy is to be had by it. Rates are chosen with other seeds.",
        real_images(STAGE),
    ),
    Claim(
        "F17a",
        "12.10",
        Kind.SAID,
        "001:244",
        "Adam is one of the more robust and effective rules.",
        "Its rank of nine by the decades of rates at which a rule ends within twice the best"
        " excess, mean of three regressions.",
        Rule(
            [of(names.DECADES, rule) for rule in RANKED],
            rank_of_the_first,
            at_most(4),
            "of 9 in rank",
        ),
        "“One of the more”: in the upper half of nine. The best are chosen with other seeds.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F17b",
        "12.10",
        Kind.SAID,
        "001:269-270",
        "Epsilon outside Adam's root works slightly better than inside.",
        "Excess over the exact minimum: inside over outside, paired by seed.",
        excess_ratio(
            of(names.ENDS, names.ADAM_EPSILON_INSIDE), of(names.ENDS, names.ADAM_001), FASTER
        ),
        "“Slightly better”: anything over 2 %.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F17c",
        "12.10",
        Kind.SAID,
        "001:271",
        "An epsilon of 1e-6 is a good balance of stability and fidelity.",
        "Excess of Adam with it over that with the best of seven epsilons, chosen with other seeds:"
        " the worst of three regressions.",
        over_problems(names.EPSILON_ENDS, names.NOTES_EPSILON, names.BEST_EPSILON, NOT_WORSE),
        "“Good”: within 2 % of the best.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F17d",
        "12.10",
        Kind.SAID,
        "001:254-256",
        "With 0.9 and 0.999 the second moment moves far more slowly than the first.",
        "Change of the average from one airfoil gradient to the next, relative to itself: first"
        " moment over second.",
        speedup(
            of(names.AVERAGES, names.FIRST_MOVES),
            of(names.AVERAGES, names.SECOND_MOVES),
            at_least(10),
            "times as much movement",
            Over.SEEDS,
        ),
        "“Far”: ten times.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F17e",
        "12.10",
        Kind.SAID,
        "001:257",
        "Averages that start at 0 have a considerable bias at first.",
        "Second moment after 100 airfoil gradients, over the mean of their squares.",
        samples(
            of(names.AVERAGES, names.UNCORRECTED), at_most(0.5), "of its true value", Over.SEEDS
        ),
        "“Considerable”: less than half of what it estimates.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F17f",
        "12.10",
        Kind.ASKED,
        "001:257-261",
        "Adam's correction of the bias pays.",
        "Excess of Adam at rate 0.01 after two epochs: without the correction over with it.",
        excess_ratio(
            of(names.ENDS, names.ADAM_UNCORRECTED), of(names.ENDS, names.ADAM_001), FASTER
        ),
        "“Pays”: by more than 2 %.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F18a",
        "12.10",
        Kind.SAID,
        "001:258",
        "The powers of β from 0 to t add up to (1 − β^t)/(1 − β).",
        "Largest error of the formula for β = 0.9 and t from 0 to 20.",
        Rule(
            [of(names.GEOMETRIC_SUM, name) for name in (names.SUMMED, names.FORMULA)],
            largest_error,
            at_most(1e-6),
            "% of the sum",
        ),
        "An equation: rounding is all that is allowed. It holds for the sum from 0 to t − 1.",
    ),
    Claim(
        "F18b",
        "12.10",
        Kind.SAID,
        "001:257-261",
        "Dividing by 1 − β^t takes the initial bias away.",
        "Second moment after 100 airfoil gradients, so corrected, over the mean of their squares.",
        samples(of(names.AVERAGES, names.CORRECTED), near(1, 0.1), "of its true value", Over.SEEDS),
        "A tenth: the mean of 100 squares itself is no more certain.",
        real_airfoil(STAGE),
    ),
    Claim(
        "F19a",
        "12.10",
        Kind.SAID,
        "001:315-319",
        "torch.optim's Adam is the algorithm written from scratch, said concisely.",
        "Excess after two epochs from the same starts, with the same loss and batches: torch's Adam"
        " over the one from scratch.",
        excess_ratio(
            of(names.ONLY_THE_OPTIMIZER, names.ADAM_001), of(names.ENDS, names.ADAM_001), SAME
        ),
        "The same within 2 %; torch's epsilon is 1e-8, the notes' 1e-6.",
        real_airfoil(STAGE),
    ),
)

UNMEASURED = (
    Unmeasured(
        "001:145-146",
        "Features that occur rarely are common in language, in advertising and in filtering.",
        "No such data are among the notes'; the sparse regression here is made up.",
    ),
    Unmeasured(
        "001:244",
        "Adam is very popular.",
        "How many use a method is nothing that a machine here can measure.",
    ),
)
