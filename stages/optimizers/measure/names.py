"""The names of the experiments, update rules, runs and metrics of `optimizers`.

An experiment "by seed" has in each series a value (y) for each seed (x): what rules pair.
"""

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
DECAYING, COUNTING = "SGD, rate falls with steps", "SGD, rate falls with counts"  # as t^-1/2


def at_rate(rule: str, rate: str) -> str:
    """The series of a rule at one rate."""
    return f"{rule}, rate {rate}"


def rule_of(series: str) -> str:
    """The rule of a series that `at_rate` named."""
    return series.split(", rate ")[0]


# experiments on quadratics
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

# experiments on the airfoil regression: the notes' runs
NOTES_RUNS = "airfoil"  # excess over the minimum against epochs
ENDS = "airfoil_ends"  # by seed: where they end
WORST = "airfoil_worst"  # by seed: the largest excess after the first epoch, over the start's
GD_1 = at_rate("GD", "1")
SGD_BATCH_1, SGD_BATCH_100, SGD_BATCH_10 = (
    at_rate(f"{SGD}, batch {size}", rate)
    for size, rate in (("1", "0.005"), ("100", "0.4"), ("10", "0.05"))
)
MOMENTUM_05_002 = at_rate("momentum 0.5", "0.02")
MOMENTUM_002 = at_rate(MOMENTUM, "0.02")
MOMENTUM_001, MOMENTUM_0005 = at_rate(MOMENTUM, "0.01"), at_rate(MOMENTUM, "0.005")
ADAGRAD_01 = at_rate(ADAGRAD, "0.1")
RMSPROP_001 = at_rate(RMSPROP, "0.01")
ADADELTA_RHO_09 = f"{ADADELTA}, rho 0.9"
ADAM_001 = at_rate(ADAM, "0.01")
ADAM_EPSILON_INSIDE = f"{ADAM_001}, epsilon inside"
ADAM_UNCORRECTED = f"{ADAM_001}, uncorrected"
YOGI_001 = at_rate(YOGI, "0.01")

# torch's own optimizers, the notes' "concise" runs
WITH_TORCH = (MOMENTUM_0005, ADAGRAD_01, ADAM_001)


def concise(run: str) -> str:
    """The series of a run that is torch's in the notes."""
    return f"{run}, concise"


ONLY_THE_OPTIMIZER = "torch_optimizer"  # by seed: with the start, loss and batches from scratch
AFTER_TWO_EPOCHS = "concise_after_two_epochs"  # by seed: as the notes have it

# experiments on AdaGrad's state and momentum's average, of airfoil gradients
ADAGRAD_STATE = "adagrad_state"  # by seed
EXPONENT = "growth exponent"
AVERAGES = "gradient_averages"  # by seed
EFFECTIVE_NUMBER = "effective samples of momentum 0.9"
GEOMETRIC_SUM = "geometric_sum"
SUMMED, FORMULA = "summed", "the notes' formula"

# experiments on Adam's correction of its averages, by seed: the mean excess of several runs; the
# keys are epochs, as many as the notes' runs have from scratch and with torch
BIAS_CORRECTION = {epochs: f"bias_correction_{epochs}_epochs" for epochs in (2, 4)}
FIRST_GRADIENT = f"{ADAM} from the first gradient"
DECAYS = (0.9, 0.999)  # of the squares' average: RMSProp's in the book, Adam's in the notes
RMSPROP_AT = {decay: f"{RMSPROP}, decay {decay}" for decay in DECAYS}
NO_MOMENTUM_AT = {decay: f"{ADAM} without momentum, decay {decay}" for decay in DECAYS}

# sweeps of rates: per problem, the final excess by rate, and the descent at each rule's best rate
AIRFOIL, ILL, SPARSE = "airfoil", "ill", "sparse"
PROBLEMS = (AIRFOIL, ILL, SPARSE)
RATES = {problem: f"{problem}_rates" for problem in PROBLEMS}
BEST = {problem: f"{problem}_best" for problem in PROBLEMS}  # series as `at_rate` names them
# by seed: where each rule ends at its best rate, and the rule that is best at its best rate;
# both are found with other seeds
BEST_ENDS = {problem: f"{problem}_best_ends" for problem in PROBLEMS}
BEST_RULE = "the best rule"
DECADES = "decades_near_the_best"  # by seed: of rates at which a rule ends within NEAR of the best
NEAR = 2.0
EPSILONS = {problem: f"{problem}_epsilons" for problem in PROBLEMS}  # Adam's, at its best rate
EPSILON_ENDS = {problem: f"{problem}_epsilon_ends" for problem in PROBLEMS}  # by seed
NOTES_EPSILON, TORCHS_EPSILON = "epsilon 1e-06", "torch's epsilon"
BEST_EPSILON = "the best epsilon"

# experiments on the sparse regression
FEATURE_ERRORS = "feature_errors"  # against the share of rows that have the feature
COMMON, RARE = "common features", "rare features"
GROUP_ERRORS = "group_errors"  # by seed, series as `of_group` names them


def of_group(variant: str, group: str) -> str:
    """The series of a variant's error on one group of features."""
    return f"{variant}: {group}"


LENET = "lenet"  # test accuracy against the rate, a series for each rule
STEP_TIME = "step_time"  # milliseconds by start
ADAGRAD_STEP, SGD_STEP = "step with AdaGrad", "step with SGD"
LOSS_AND_GRADIENT = "loss and gradient only"

# metrics
ADAGRAD_LOWER_PERCENT = {  # starts from which AdaGrad at 2 ends lower than descent at 0.4
    0: "starts_where_adagrad_2_ends_lower_percent_turned_0",
    45: "starts_where_adagrad_2_ends_lower_percent_turned_45",
}
AIRFOIL_MINIMUM, AIRFOIL_RATE_BOUND = "airfoil_minimum", "airfoil_rate_bound"
