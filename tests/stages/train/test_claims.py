from lab.claims.rules import Verdict
from lab.claims.verdicts import judge
from tests import made_up
from tests.helpers import claim_of


def test_one_seed_decides_nothing():
    """The notes' runs end at 84 % here; however far that is from 91, one seed is no proof."""
    found = judge(claim_of("E4"), made_up.evidence("train"))
    assert found.verdict is Verdict.INCONCLUSIVE, found.reason
    assert found.estimate.count == 1
