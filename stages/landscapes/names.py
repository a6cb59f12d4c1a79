"""The names of the demos, series and metrics of `landscapes`, and the bound of its longest runs."""

# demos, each with its series
RISKS = "risk"
RISK_MINIMA = "risk_minimum"
RISK, EMPIRICAL_RISK = "risk", "empirical risk"

ARGMIN_GAP = "argmin_gap"
DISTANCE, EXCESS = "distance of the minimisers", "excess risk"

FLAT_POINT = "flat_point"
CUBE = "x³"

VANISHING_GRADIENT = "vanishing_gradient"
TANH, TANH_GRADIENT = "tanh(x)", "its gradient"

NEGATIVE_EIGENVALUES = "negative_eigenvalues"
NEGATIVE_SHARE, WITHOUT_NEGATIVE = (
    "share of negative eigenvalues",
    "matrices without a negative one",
)

SADDLE_ESCAPE = "saddle_escape"
GD, NOISY_GD, MOMENTUM, ADAM = "GD", "GD with noise", "momentum 0.9", "Adam"
SADDLE_LIMIT = 10_000  # steps after which a run counts as still on the saddle

# metrics
ARGMIN_RISK, ARGMIN_EMPIRICAL_RISK = "argmin_risk", "argmin_empirical_risk"
EXCESS_RISK = "excess_risk"  # of the empirical risk's minimiser
GAP_EXPONENT = "gap_exponent"  # of the sample size
SADDLE_EIGENVALUE_LOW, SADDLE_EIGENVALUE_HIGH = "saddle_eigenvalue_low", "saddle_eigenvalue_high"
GD_STEPS_FROM_0 = "escape_steps_gd_from_0"  # started on the line x2 = 0 itself
