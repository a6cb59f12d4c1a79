"""What the experiments of `optimizers` and their variants are called in its rows."""

from lab.optim import update_rules

DECAYING, COUNTING = "SGD, rate falls with steps", "SGD, rate falls with counts"  # as t^-1/2
# forms of Adam have an experiment of their own; LARS goes by layer, and a regression is one
LEFT_OUT = ("adam_uncorrected", "adam_from_first_gradient", "lars")
COMPARED = {name: rule for name, rule in update_rules.RULES.items() if name not in LEFT_OUT}
RULES = tuple(rule.label for rule in COMPARED.values())
PROBLEMS = ("airfoil", "ill", "sparse")  # ill: ill-conditioned
ROTATED = "ill, rotated"
BEST_RIVAL = "AdaGrad's best rival"
