"""The names of the demos, update rules, runs and metrics of `optimizers`."""

# update rules
SGD = "SGD"
MOMENTUM = "momentum 0.9"
NESTEROV = "Nesterov 0.9"
ADAGRAD = "AdaGrad"
RMSPROP = "RMSProp"
ADADELTA = "Adadelta"
ADAM = "Adam"
ADAMW = "AdamW"
YOGI = "Yogi"
RULES = (SGD, MOMENTUM, NESTEROV, ADAGRAD, RMSPROP, ADADELTA, ADAM, ADAMW, YOGI)


def at_rate(rule: str, rate: str) -> str:
    """The series of a rule at one rate."""
    return f"{rule}, rate {rate}"


def rule_of(series: str) -> str:
    """The rule of a series that `at_rate` named."""
    return series.split(", rate ")[0]


# demos on quadratics
TRACE = "trace"
GD_04, GD_06 = at_rate("GD", "0.4"), at_rate("GD", "0.6")
MOMENTUM_05_06, MOMENTUM_025_06 = (at_rate(f"momentum {b}", "0.6") for b in ("0.5", "0.25"))
ADAGRAD_04, ADAGRAD_2 = at_rate(ADAGRAD, "0.4"), at_rate(ADAGRAD, "2")
RMSPROP_04, ADAM_04 = at_rate(RMSPROP, "0.4"), at_rate(ADAM, "0.4")
STARTS = {0: "start_turned_0", 45: "start_turned_45"}  # by the quadratic's angle in degrees
DECAY = "decay"
STABILITY = "stability"  # a series for each beta
BOUNDARY = "stability_boundary"
MEASURED, BOUND = "measured", "2 + 2β"

# demos on the airfoil regression: the notes' runs
NOTES_RUNS = "airfoil"
GD_1 = at_rate("GD", "1")
SGD_BATCH_1, SGD_BATCH_100, SGD_BATCH_10 = (
    at_rate(f"{SGD}, batch {size}", rate)
    for size, rate in (("1", "0.005"), ("100", "0.4"), ("10", "0.05"))
)
MOMENTUM_05_002 = at_rate("momentum 0.5", "0.02")
MOMENTUM_001, MOMENTUM_0005 = at_rate(MOMENTUM, "0.01"), at_rate(MOMENTUM, "0.005")
ADAGRAD_01 = at_rate(ADAGRAD, "0.1")
RMSPROP_001 = at_rate(RMSPROP, "0.01")
ADADELTA_RHO_09 = f"{ADADELTA}, rho 0.9"
ADAM_001 = at_rate(ADAM, "0.01")
ADAM_EPSILON_INSIDE = f"{ADAM_001}, epsilon inside"
YOGI_001 = at_rate(YOGI, "0.01")
MOMENTUM_CONCISE, ADAGRAD_CONCISE, ADAM_CONCISE = (
    f"{run}, concise" for run in (MOMENTUM_0005, ADAGRAD_01, ADAM_001)
)
ADAGRAD_GROWTH = "adagrad_growth"
SQUARES = "sum of squared gradients"

# sweeps of rates: per problem, the final excess by rate, and the descent at each rule's best rate
AIRFOIL, ILL, SPARSE = "airfoil", "ill", "sparse"
PROBLEMS = (AIRFOIL, ILL, SPARSE)
RATES = {problem: f"{problem}_rates" for problem in PROBLEMS}
BEST = {problem: f"{problem}_best" for problem in PROBLEMS}  # series as `at_rate` names them

LENET = "lenet"  # a series for each rule
STEP_TIME = "step_time"  # microseconds per step on the airfoil regression, a series for each rule

# metrics
ADAGRAD_LOWER_PERCENT = {  # starts from which AdaGrad at 2 ends lower than descent at 0.4
    0: "starts_where_adagrad_2_ends_lower_percent_turned_0",
    45: "starts_where_adagrad_2_ends_lower_percent_turned_45",
}
AIRFOIL_MINIMUM, AIRFOIL_RATE_BOUND = "airfoil_minimum", "airfoil_rate_bound"
ADAGRAD_GROWTH_EXPONENT = "adagrad_growth_exponent"
