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
ROTATED = "ill, rotated"
BEST_RIVAL = "AdaGrad's best rival"
NEAR = 2.0  # times the least excess: what is as good as the best
