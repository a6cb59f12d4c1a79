"""Verdicts from made-up rows of a GPU whose work was launch-bound, or lasted."""

from collections.abc import Mapping
from dataclasses import replace

from lab.claims.rules import Verdict
from lab.claims.verdicts import judge
from lab.results.diff import Taken
from lab.timing.bench import OVER_LAUNCH
from tests.helpers import claim_of
from tests.made_up import conditions_of, findings, measurements, samples

Times = Mapping[tuple[str, str], float]  # by experiment and variant, at whatever size


def verdicts(stage: str, times: Times, over_launch: float, *claims: str) -> list[Verdict]:
    """The verdicts if a GPU's variants took these times, and work so long over its launch."""
    made = [
        replace(m, values=samples(times.get((m.experiment, m.variant), over_launch)))
        if (m.experiment, m.variant) in times or m.experiment == OVER_LAUNCH
        else m
        for m in measurements(stage, "cuda")
    ]
    found = Taken(findings(stage, made, "cuda"), conditions_of(stage, made, "cuda"))
    return [judge(claim_of(claim), found).verdict for claim in claims]
