"""Names that measuring, page and claims of `optimizers` share; no torch."""

DECAYING, COUNTING = "SGD, rate falls with steps", "SGD, rate falls with counts"  # as t^-1/2
RULES = (
    "SGD",
    "momentum 0.9",
    "Nesterov 0.9",
    "AdaGrad",
    "RMSProp",
    "Adadelta",
    "Adam",
    "AdamW",
    "Yogi",
)
PROBLEMS = ("airfoil", "ill", "sparse")  # ill: ill-conditioned
NEAR = 2.0  # times the least excess: what is as good as the best
ADAGRAD_LOWER_PERCENT = {  # metrics, by the quadratic's angle: of the starts, AdaGrad 2 over GD 0.4
    0: "starts_where_adagrad_2_ends_lower_percent_turned_0",
    45: "starts_where_adagrad_2_ends_lower_percent_turned_45",
}
