"""What `optimizers` reads of params.yaml, and the names that its rows have."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import BenchParams, DeviceParams, Seed
from lab.optim import update_rules

DECAYING, COUNTING = "SGD, rate falls with steps", "SGD, rate falls with counts"  # as t^-1/2
# forms of Adam have an experiment of their own; LARS goes by layer, and a regression is one
LEFT_OUT = ("adam_uncorrected", "adam_from_first_gradient", "lars")
COMPARED = {name: rule for name, rule in update_rules.RULES.items() if name not in LEFT_OUT}
RULES = tuple(rule.label for rule in COMPARED.values())
PROBLEMS = ("airfoil", "ill", "sparse")  # ill: ill-conditioned
ROTATED = "ill, rotated"
BEST_RIVAL = "AdaGrad's best rival"


class OptimizerParams(Section):
    num_seeds: Annotated[int, Field(ge=2, le=1000)]
    num_rates: Annotated[int, Field(ge=3, le=200)]
    num_starts: Annotated[int, Field(ge=8, le=3600)]


class Params(Section):
    seed: Seed
    devices: DeviceParams
    bench: BenchParams
    optimizers: OptimizerParams
