"""Do whole runs of one machine agree? A test of the verdicts in practice."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from lab.claims.rules import DECIDED
from lab.claims.verdicts import Judgement
from lab.results.diff import agree

AIM_PERCENT = 97  # of the pairs should agree


@dataclass(frozen=True)
class Pair:
    """One claim's judgements in two runs, each with a finding that can decide."""

    one: Judgement
    other: Judgement

    @property
    def agrees(self) -> bool:
        """True if the difference's interval holds 0; exact numbers must be equal."""
        return agree(self.one.finding, self.other.finding)

    @property
    def contradicts(self) -> bool:
        """True if one run confirms what the other refutes."""
        verdicts = {self.one.verdict, self.other.verdict}
        return verdicts == set(DECIDED)


@dataclass(frozen=True)
class Agreement:
    """The agreement of whole runs: all pairs of their findings that can decide."""

    num_runs: int
    pairs: Sequence[Pair]

    @property
    def of_times(self) -> "Agreement":
        """The timed pairs: counts and seeded results are the same in each run."""
        timed = [pair for pair in self.pairs if pair.one.finding and pair.one.finding.timed]
        return Agreement(self.num_runs, timed)

    @property
    def percent(self) -> float:
        """The percentage of pairs that agree; there must be at least one pair."""
        return 100 * sum(pair.agrees for pair in self.pairs) / len(self.pairs)

    @property
    def apart(self) -> Counter[str]:
        """The number of pairs that differ by more than their intervals explain, by claim."""
        return Counter(pair.one.claim.id for pair in self.pairs if not pair.agrees)

    @property
    def contradicted(self) -> list[str]:
        """The claims that one run confirms and another refutes."""
        return sorted({pair.one.claim.id for pair in self.pairs if pair.contradicts})


def agreement_of(runs: Sequence[Collection[Judgement]]) -> Agreement:
    """Return the pairs of each claim in every two runs, if both have a finding that can decide."""
    found = []
    for one, other in combinations(runs, 2):
        by_id = {f.claim.id: f for f in other}
        for f in one:
            again = by_id.get(f.claim.id)
            if again and f.unit == again.unit and _decides(f) and _decides(again):
                found.append(Pair(f, again))
    return Agreement(len(runs), found)


def _decides(judged: Judgement) -> bool:
    return judged.finding is not None and judged.finding.decides
