"""The names of the experiments, series and metrics of `landscapes`, and the bound of its longest
runs.

An experiment "by seed" has in each series a value (y) for each seed (x).
"""

# experiments, each with its series
RISKS = "risk"
RISK_MINIMA = "risk_minimum"
RISK, EMPIRICAL_RISK = "risk", "empirical risk"

ARGMIN_GAP = "argmin_gap"
DISTANCE, EXCESS = "distance of the minimisers", "excess risk"

OVERFITTING = "overfitting"  # half the mean squared error against steps of descent
OVERFITTING_ENDS = "overfitting_ends"  # by seed
TRAINING, OTHERS = "rows trained on", "other rows"
OTHERS_AT_BEST = "other rows, at the best step"  # which other seeds have chosen

FLAT_POINT = "flat_point"
CUBE = "x³"
NEIGHBOURS = "neighbours"  # of the flat point 0: shares that lie lower (x) and higher (y)
QUADRATICS = ("x1² + x2²", "x1² - x2²", "-x1² + x2²", "-x1² - x2²")

VANISHING_GRADIENT = "vanishing_gradient"
TANH, TANH_GRADIENT = "tanh(x)", "its gradient"

NEGATIVE_EIGENVALUES = "negative_eigenvalues"
NEGATIVE_SHARE, WITHOUT_NEGATIVE = (
    "share of negative eigenvalues",
    "matrices without a negative one",
)

WAYS_DOWN = "ways_down"  # by seed: share of random directions that lead down from a saddle
FEW, MANY = 2, 10  # dimensions


def one_way(dimension: int) -> str:
    """The series of saddles that go down along one axis only."""
    return f"one way down, {dimension} dimensions"


def random_saddles(dimension: int) -> str:
    """The series of random symmetric matrices that are saddles."""
    return f"random, {dimension} dimensions"


SADDLE_ESCAPE = "saddle_escape"
GD, NOISY_GD, MOMENTUM, ADAM = "GD", "GD with noise", "momentum 0.9", "Adam"
SADDLE_LIMIT = 10_000  # steps after which a run counts as still on the saddle
NOISY_ESCAPE = "noisy_escape"  # by seed: steps of NOISY_GD started on the line x2 = 0 itself

# metrics
ARGMIN_RISK, ARGMIN_EMPIRICAL_RISK = "argmin_risk", "argmin_empirical_risk"
EXCESS_RISK = "excess_risk"  # of the empirical risk's minimiser
GAP_EXPONENT = "gap_exponent"  # of the sample size
GD_STEPS = "escape_steps_gd_from_a_millionth"
