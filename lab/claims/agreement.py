"""Do whole runs of one machine agree? What the verdicts are worth, in life."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from lab.claims.rules import Estimate, Verdict
from lab.claims.verdicts import Finding
from lab.results.stats import difference_interval

DECIDED = (Verdict.CONFIRMED, Verdict.REFUTED)


@dataclass(frozen=True)
class Pair:
    """One claim's findings in two runs, each with an estimate on which a verdict may rest."""

    one: Finding
    other: Finding

    @property
    def agrees(self) -> bool:
        """Whether 0 lies in the interval of the difference; of exact numbers, whether it is 0."""
        return agree(self.one.estimate, self.other.estimate)

    @property
    def contradicts(self) -> bool:
        """Whether one run confirms what the other refutes."""
        verdicts = {self.one.verdict, self.other.verdict}
        return verdicts == set(DECIDED)


def pairs_of(runs: Sequence[Sequence[Finding]]) -> list[Pair]:
    """Each claim in each two runs, where both have an estimate on which a verdict may rest."""
    found = []
    for one, other in combinations(runs, 2):
        by_id = {f.claim.id: f for f in other}
        for f in one:
            again = by_id.get(f.claim.id)
            if again and _decides(f) and _decides(again):
                found.append(Pair(f, again))
    return found


def agree(one: Estimate | None, other: Estimate | None) -> bool:
    """Whether two estimates differ by no more than their intervals explain."""
    if one is None or other is None:
        return False
    if one.exact and other.exact:
        return one.value == other.value
    ends = difference_interval(*[(e.value, e.low, e.high) for e in (one, other)])
    return ends[0] <= 0 <= ends[1]


def _decides(finding: Finding) -> bool:
    return finding.estimate is not None and finding.estimate.decides
