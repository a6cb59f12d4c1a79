"""What the notes claim about optimization (book 12), each sentence with the rule that decides it."""

from collections.abc import Sequence

from lab.claims import (
    FASTER,
    POINTS,
    Claim,
    Column,
    Estimate,
    Metric,
    NotTestableError,
    Range,
    Rule,
    Text,
    at_least,
    at_most,
    band_ratio,
    near,
    point,
    real_airfoil,
    real_images,
    value,
)
from lab.stats import SMALLEST_EFFECT

SADDLE_LIMIT = 10_000  # steps after which stages/landscapes counts a run as still on the saddle
BOOK_MARKS = (
    1.1,
    1.0,
    -1.05,
    -1.2,
)  # minimiser of risk and of empirical risk, and both minima, as the notes mark them
HALF_A_DIGIT = 0.05  # of the marks' places, which have one decimal
EQUAL = Range(1 / (1 + SMALLEST_EFFECT), 1 + SMALLEST_EFFECT)
PROBLEMS = ("airfoil", "ill", "sparse")
RULES = ("adam", "sgd", "momentum_09", "nesterov_09", "adagrad", "rmsprop", "adadelta", "adamw", "yogi")
EXCESS, STARTS = Text("x the excess", "倍超额损失"), Text("% of the starts", "% 的起点")
ONE_TEST_IMAGE = 0.05  # percentage points: one of the 2000 that stages/schedules tests on


def band(demo: str, series: str, folder: str = "optimizers") -> list[Column]:
    """Return the reads of a series' medians and of its band's two ends."""
    return [Column(folder, name, {"demo": demo, "series": series}) for name in ("y", "low", "high")]


def last_ratio(*bands: Sequence[float]) -> Estimate:
    """Return the ratio of the last points of two series, given as `band` reads them."""
    return band_ratio(*[numbers[-1] for numbers in bands])


def last_excess(minimum: float, y: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Estimate:
    """Return the last loss over the minimum, from the band of the excess."""
    return Estimate(*[1 + numbers[-1] / minimum for numbers in (y, low, high)])


def last_difference(*bands: Sequence[float]) -> Estimate:
    """Return the difference of the last points of two series in percentage points, with the bands' extremes."""
    y, low, high, other_y, other_low, other_high = [100 * numbers[-1] for numbers in bands]
    return Estimate(y - other_y, low - other_high, high - other_low)


def farthest_mark(*found: float) -> Estimate:
    """Return the largest distance between what was found and the notes' marks."""
    return point(max(abs(a - b) for a, b in zip(found, BOOK_MARKS, strict=True)))


def last_over_first(numbers: Sequence[float]) -> Estimate:
    """Return what is left of the first number at the end."""
    return point(numbers[-1] / numbers[0])


def last_step_over_first(x1: Sequence[float], x2: Sequence[float]) -> Estimate:
    """Return the length of a trace's last step over that of its first."""
    first, last = (((x1[i] - x1[i - 1]) ** 2 + (x2[i] - x2[i - 1]) ** 2) ** 0.5 for i in (1, -1))
    return point(last / first)


def quadratic_ratio(x1: float, x2: float, other_x1: float, other_x2: float) -> Estimate:
    """Return the book's quadratic at one point over its value at another."""
    return point((0.1 * x1**2 + 2 * x2**2) / (0.1 * other_x1**2 + 2 * other_x2**2))


def share_lower(numbers: Sequence[float], others: Sequence[float]) -> Estimate:
    """Return in percent how often a number lies under its counterpart."""
    return point(100 * sum(a < b for a, b in zip(numbers, others, strict=True)) / len(numbers))


def rank_of_the_first(*excesses: float) -> Estimate:
    """Return the first rule's rank by its worst factor over the best rule of a problem.

    `excesses` are those of RULES on each of PROBLEMS in turn.
    """
    tables = [excesses[i : i + len(RULES)] for i in range(0, len(excesses), len(RULES))]
    worst = [max(table[i] / min(table) for table in tables) for i in range(len(RULES))]
    return point(1 + sum(factor < worst[0] for factor in worst))


def most_failures(rates: Sequence[float], failed: Sequence[float]) -> Estimate:
    """Return the largest share of seeds that fail at any rate, in percent."""
    _some_fail(rates, failed)
    return point(100 * max(failed))


def prevented(rates: Sequence[float], failed: Sequence[float], failed_warm: Sequence[float]) -> Estimate:
    """Return the share of failures that warm-up prevents where runs fail without it; its range over those rates."""
    _some_fail(rates, failed)
    pairs = [(plain, warm) for plain, warm in zip(failed, failed_warm, strict=True) if plain > 0]
    shares = [100 * (1 - warm / plain) for plain, warm in pairs]
    overall = 100 * (1 - sum(warm for _, warm in pairs) / sum(plain for plain, _ in pairs))
    return Estimate(overall, min(shares), max(shares))


def _some_fail(rates: Sequence[float], failed: Sequence[float]) -> None:
    if max(failed) <= 0:
        raise NotTestableError(
            f"no run fails at any rate up to {max(rates):g}; add higher ones to schedules.high_rates"
        )


def failures(arm: str, column: str = "y") -> Column:
    """Return the read of an arm's share of failed seeds, by rate."""
    return Column("schedules", column, {"demo": "warm_up_failures", "series": arm})


CLAIMS = (
    Claim(
        "F2a", "12.1", "001",
        Text("The minimum of the empirical risk is not where the minimum of the risk is.",
             "经验风险的最小值点与真实风险的最小值点不在同一处。"),
        Text("Distance of the two minimisers, found numerically.", "数值求得的两个最小值点之间的距离。"),
        Rule([Metric("landscapes", "argmin_risk"), Metric("landscapes", "argmin_empirical_risk")],
             lambda a, b: point(abs(a - b)), at_least(0.01), Text("apart on the x axis", "的 x 轴距离")),
        "0.01 is the step with which the notes draw both functions: less could not be seen.",
    ),
    Claim(
        "F2b", "12.1", "001",
        Text("The two minima lie where the figure's arrows point: (1.1, −1.05) and (1.0, −1.2).",
             "两个最小值位于图中箭头所指之处：(1.1, −1.05) 与 (1.0, −1.2)。"),
        Text("Largest distance between a marked coordinate and the one found numerically.",
             "图中标注的坐标与数值求得的坐标之间的最大差距。"),
        Rule([Metric("landscapes", name) for name in
              ("argmin_risk", "argmin_empirical_risk", "min_risk", "min_empirical_risk")],
             farthest_mark, at_most(HALF_A_DIGIT), Text("from the mark", "的差距（与标注相比）")),
        "The places have one decimal: half of its last digit.",
    ),
    Claim(
        "F3", "12.1", "001",
        Text("On a saddle the gradient vanishes, though it is no minimum, and descent stays there.",
             "鞍点不是极小值，但梯度为零，梯度下降会停在那里。"),
        Text("Steps until gradient descent leaves x1² − x2², started on the line x2 = 0.",
             "从直线 x2 = 0 出发，梯度下降离开 x1² − x2² 鞍点所需的步数。"),
        value(Metric("landscapes", "escape_steps_gd_from_0"), at_least(SADDLE_LIMIT), Text("steps", "步")),
        "The stage counts a run as stuck after this many steps.",
    ),
    Claim(
        "F4a", "12.1", "001",
        Text("x1² − x2² has a minimum along one axis and a maximum along the other.",
             "x1² − x2² 沿一个坐标轴是极小值，沿另一个坐标轴是极大值。"),
        Text("The smaller curvature, up one way and down the other, of the Hessian's eigenvalues.",
             "由黑塞矩阵特征值得到的一正一负两个曲率中较小者的大小。"),
        Rule([Metric("landscapes", "saddle_eigenvalue_low"), Metric("landscapes", "saddle_eigenvalue_high")],
             lambda low, high: point(min(-low, high)), at_least(1e-6), Text("as curvature", "的曲率")),
        "Signs decide: anything but rounding above 0.",
    ),
    Claim(
        "F4b", "12.1", "001",
        Text("In high dimension a flat point is a saddle rather than a minimum.",
             "在高维问题中，梯度为零的点更可能是鞍点而不是极小值点。"),
        Text("Share of random symmetric matrices without a negative eigenvalue, highest dimension over lowest.",
             "随机对称矩阵中没有负特征值者所占的比例：最高维与最低维之比。"),
        Rule([Column("landscapes", "y", {"demo": "negative_eigenvalues",
                                         "series": "matrices without a negative one"})],
             last_over_first, at_most(0.5), Text("of the lowest dimension's share", "倍最低维的比例")),
        "“Rather”: at most half as many are left.",
    ),
    Claim(
        "F8", "12.6", "001",
        Text("Lowering the rate from 0.02 to 0.01 makes up for raising momentum from 0.5 to 0.9.",
             "把学习率从 0.02 降到 0.01，可抵消动量从 0.5 增到 0.9 的影响。"),
        Text("Excess over the exact minimum after two epochs: (0.01, 0.9) over (0.02, 0.5), bands of the seeds.",
             "两个周期后超出精确最小值的量：(0.01, 0.9) 与 (0.02, 0.5) 之比，含各随机种子的区间。"),
        Rule([*band("airfoil", "momentum 0.9, rate 0.01"), *band("airfoil", "momentum 0.5, rate 0.02")],
             last_ratio, at_most(1 + SMALLEST_EFFECT), EXCESS),
        "“Makes up for”: no larger an excess, 2 % allowed as everywhere. The effective rate lr/(1 − β) rises.",
        real_airfoil(),
    ),
    Claim(
        "F9a", "12.6", "001",
        Text("Momentum 0.9 at rate 0.005 converges well on the airfoil regression.",
             "动量 0.9、学习率 0.005 在翼型回归上收敛良好。"),
        Text("Loss after two epochs over the exact minimum, with the band of the seeds.",
             "两个周期后的损失与精确最小值之比，含各随机种子的区间。"),
        Rule([Metric("optimizers", "airfoil_minimum"), *band("airfoil", "momentum 0.9, rate 0.005")],
             last_excess, at_most(1.05), Text("x the minimum", "倍最小值")),
        "A twentieth above the minimum can no longer be seen in the notes' figure (0.22 to 0.35).",
        real_airfoil(),
    ),
    Claim(
        "F9b", "12.6", "001",
        Text("With momentum 0.9, rate 0.005 does better than 0.01.",
             "动量为 0.9 时，学习率 0.005 比 0.01 更好。"),
        Text("Excess over the exact minimum: rate 0.01 over rate 0.005, with the bands of the seeds.",
             "超出精确最小值的量：学习率 0.01 与 0.005 之比，含各随机种子的区间。"),
        Rule([*band("airfoil", "momentum 0.9, rate 0.01"), *band("airfoil", "momentum 0.9, rate 0.005")],
             last_ratio, FASTER, EXCESS),
        "“Better”: bands of the seeds that lie apart.",
        real_airfoil(),
    ),
    Claim(
        "F10", "12.6", "001",
        Text("The concise momentum run is the same algorithm with the same settings.",
             "动量法的简洁实现是同一个算法、同样的设置。"),
        Text("Excess over the exact minimum: concise run over the one from scratch, with the bands of the seeds.",
             "超出精确最小值的量：简洁实现与从零实现之比，含各随机种子的区间。"),
        Rule([*band("airfoil", "momentum 0.9, rate 0.005, concise"), *band("airfoil", "momentum 0.9, rate 0.005")],
             last_ratio, EQUAL, EXCESS),
        "“Same”: within 2 %. torch's MSELoss lacks the half, which doubles the rate, and it runs four epochs.",
        real_airfoil(),
    ),
    Claim(
        "F11", "12.7", "001",
        Text("One rate for all does not suit sparse features; AdaGrad's rate for each does better.",
             "对所有特征用同一个学习率不适合稀疏特征；AdaGrad 为每个特征单独调整，效果更好。"),
        Text("Excess on sparse regression, each at the best rate of its sweep: SGD over AdaGrad, with the bands.",
             "稀疏回归上各自取最佳学习率时超出最小值的量：SGD 与 AdaGrad 之比，含区间。"),
        Rule([*band("sparse_best", "SGD, rate *"), *band("sparse_best", "AdaGrad, rate *")],
             last_ratio, FASTER, EXCESS),
        "“Better”: bands of the seeds that lie apart.",
    ),
    Claim(
        "F12a", "12.7", "001",
        Text("AdaGrad's sum of squared gradients grows about linearly, so its rate falls as t^−1/2.",
             "AdaGrad 的梯度平方和大致线性增长，因此学习率按 t^−1/2 下降。"),
        Text("Exponent with which the sum grows on the airfoil regression, fitted after step 300.",
             "翼型回归上该和随步数增长的指数（从第 300 步之后拟合）。"),
        value(Metric("optimizers", "adagrad_growth_exponent"), near(1, 0.1), Text("as exponent", "的指数")),
        "“About”: a tenth either way.",
        real_airfoil(),
    ),
    Claim(
        "F12b", "12.7", "001",
        Text("A step of AdaGrad costs about as much as one of SGD.", "AdaGrad 一步的计算代价与 SGD 大致相同。"),
        Text("Time of an AdaGrad step over that of an SGD step, with both interquartile ranges.",
             "AdaGrad 一步与 SGD 一步的时间之比，含两者的四分位距。"),
        Rule([Metric("optimizers", f"{rule}_step_us{end}") for rule in ("adagrad", "sgd") for end in ("", "_iqr")],
             lambda a, a_iqr, b, b_iqr: Estimate(a / b, (a - a_iqr) / (b + b_iqr), (a + a_iqr) / (b - b_iqr)),
             at_most(1.25), Text("x the time", "倍时间")),
        "“About”: at most a quarter more.",
    ),
    Claim(
        "F13", "12.7", "001",
        Text("AdaGrad at rate 0.4 hardly moves any more towards the end of its 20 steps.",
             "学习率 0.4 的 AdaGrad 在 20 步的后期几乎不再移动。"),
        Text("Length of its last step over that of its first.", "最后一步与第一步的步长之比。"),
        Rule([Column("optimizers", name, {"demo": "trace", "series": "AdaGrad, rate 0.4"}) for name in ("x", "y")],
             last_step_over_first, at_most(0.5), Text("of the first step", "倍第一步步长")),
        "“Hardly”: less than half of the first step; a rate that falls as t^−1/2 alone leaves 0.22.",
    ),
    Claim(
        "F14a", "12.7", "001",
        Text("AdaGrad at rate 2 does better than at 0.4 from the notes' start.",
             "从笔记的起点出发，AdaGrad 用学习率 2 比 0.4 更好。"),
        Text("The quadratic after 20 steps: at rate 0.4 over at rate 2.",
             "20 步后的函数值：学习率 0.4 与 2 之比。"),
        Rule([Metric("optimizers", f"trace_adagrad_rate_{end}") for end in ("04_x1", "04_x2", "2_x1", "2_x2")],
             quadratic_ratio, FASTER, Text("x the value", "倍函数值")),
        "“Better”: lower by more than 2 %.",
    ),
    Claim(
        "F14b", "12.7", "001",
        Text("That rate 2 does better than 0.4 is the method's merit, not the start's nor the axes'.",
             "学习率 2 优于 0.4 是方法本身的优点，与起点和坐标轴的方向无关。"),
        Text("Directions, of all around, from which rate 2 ends lower than 0.4, on axes turned by 45 degrees.",
             "坐标轴旋转 45 度后，从四周各方向出发，学习率 2 的终值低于 0.4 的方向所占比例。"),
        Rule([Column("optimizers", "y", {"demo": "start_turned_45", "series": f"AdaGrad, rate {rate}"})
              for rate in ("2", "0.4")], share_lower, at_least(50), STARTS),
        "“Better”: from most directions.",
    ),
    Claim(
        "F14c", "12.7", "001",
        Text("AdaGrad with its large rate does better than descent with one rate for all coordinates.",
             "采用大学习率的 AdaGrad 优于所有坐标共用一个学习率的梯度下降。"),
        Text("Directions from which AdaGrad at 2 ends lower than descent at 0.4, on axes turned by 45 degrees.",
             "坐标轴旋转 45 度后，学习率 2 的 AdaGrad 终值低于学习率 0.4 的梯度下降的方向所占比例。"),
        value(Metric("optimizers", "starts_where_adagrad_2_ends_lower_percent_turned_45"), at_least(50), STARTS),
        "“Better”: from most directions, on a quadratic whose axes are not the coordinates'.",
    ),
    Claim(
        "F17a", "12.10", "001",
        Text("Adam is one of the more robust and effective rules.", "Adam 是较稳健、较有效的优化算法之一。"),
        Text("Its rank among nine rules by the worst factor over the best rule, on three regressions.",
             "在三个回归问题上，按与最佳算法相比的最差倍数，Adam 在九种算法中的名次。"),
        Rule([Metric("optimizers", f"{demo}_best_{rule}_excess") for demo in PROBLEMS for rule in RULES],
             rank_of_the_first, at_most(4), Text("as rank of 9", "名（共 9 名）")),
        "“One of the more”: in the upper half of nine.",
        real_airfoil(),
    ),
    Claim(
        "F17b", "12.10", "001",
        Text("Epsilon outside Adam's root works slightly better than inside.",
             "Adam 中 ε 放在根号外比放在根号内略好。"),
        Text("Excess over the exact minimum: inside over outside, with the bands of the seeds.",
             "超出精确最小值的量：根号内与根号外之比，含各随机种子的区间。"),
        Rule([*band("airfoil", "Adam, rate 0.01, epsilon inside"), *band("airfoil", "Adam, rate 0.01")],
             last_ratio, FASTER, EXCESS),
        "“Slightly better”: anything over 2 %, if the bands of the seeds allow to say so.",
        real_airfoil(),
    ),
    Claim(
        "F20a", "12.11", "001",
        Text("A large rate at the start makes training diverge.", "一开始就用大学习率会使训练发散。"),
        Text("Largest share of the seeds that fail without warm-up, over all base rates.",
             "不使用预热时，各基础学习率中训练失败的随机种子所占的最大比例。"),
        Rule([failures("no warm-up", "x"), failures("no warm-up")], most_failures, at_least(50),
             Text("% of the seeds", "% 的随机种子")),
        "“Makes”: most of the seeds.",
    ),
    Claim(
        "F20b", "12.11", "001",
        Text("Warm-up, a ramp to the large rate and cooling down after it, keeps training from diverging.",
             "预热，即先线性升到大学习率再逐渐降低，能避免训练发散。"),
        Text("Share of failures that warm-up prevents, at rates where runs fail without; range over the rates.",
             "在不预热会失败的学习率上，预热避免了多大比例的失败；区间为各学习率之间的范围。"),
        Rule([failures("no warm-up", "x"), failures("no warm-up"), failures("warm-up")],
             prevented, at_least(90), Text("% of the failures", "% 的失败运行")),
        "“Keeps from”: at most a tenth of the failures is left.",
    ),
    Claim(
        "F20c", "12.11", "001",
        Text("A cosine schedule with warm-up trains better than one without.",
             "带预热的余弦调度比不带预热的训练效果更好。"),
        Text("Difference of the test accuracies at base rate 0.3, with the bands of the seeds.",
             "基础学习率 0.3 时测试精度之差，含各随机种子的区间。"),
        Rule([*band("schedule_accuracy", "cosine, warm-up", "schedules"),
              *band("schedule_accuracy", "cosine", "schedules")],
             last_difference, at_least(ONE_TEST_IMAGE), POINTS),
        "“Better”: at least one test image of 2000.",
        real_images("schedules"),
    ),
)  # fmt: skip
