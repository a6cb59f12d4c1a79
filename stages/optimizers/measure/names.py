"""The names of `optimizers`'s experiments and variants in its rows."""

from lab.optim import update_rules

DECAYING, COUNTING = "SGD, rate falls with steps", "SGD, rate falls with counts"  # as t^-1/2
# variants of Adam have their own experiment; LARS works per layer, and a regression is one layer
LEFT_OUT = ("adam_uncorrected", "adam_from_first_gradient", "lars")
COMPARED = {name: rule for name, rule in update_rules.RULES.items() if name not in LEFT_OUT}
RULES = tuple(rule.label for rule in COMPARED.values())
PROBLEMS = ("airfoil", "ill", "sparse")  # ill: ill-conditioned
ROTATED = "ill, rotated"
BEST_RIVAL = "AdaGrad's best rival"
