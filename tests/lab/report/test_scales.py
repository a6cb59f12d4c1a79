"""A claim's interval on a line: order, ends, and places that agree with the verdict."""

import math

from hypothesis import assume, given
from hypothesis import strategies as st

from lab.claims.rules import Verdict, decide
from lab.report.scales import scale_of
from lab.results.findings import Finding, Over
from lab.results.stats import Range

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@given(
    st.lists(NUMBERS, min_size=3, max_size=3),
    st.lists(NUMBERS, min_size=2, max_size=2),
    st.sampled_from(["both", "low", "high"]),
)
def test_places_keep_the_order_and_show_the_verdict(interval, ends, finite):
    low, value, high = sorted(interval)
    first, last = sorted(ends)
    holds = Range(first if finite != "high" else -math.inf, last if finite != "low" else math.inf)
    shown = [low, high, *(end for end in (holds.low, holds.high) if math.isfinite(end))]
    span = max(shown) - min(shown)
    gaps = [abs(a - b) for a in shown for b in shown if a != b]
    assume(not gaps or min(gaps) > span / 50)  # less than a dot apart
    estimate = Finding(value, low, high, 8, Over.STARTS)
    found = scale_of(estimate, holds)
    places = [*found.holds, *found.interval, found.value]
    assert all(0 <= place <= 100 for place in places)
    assert found.interval[0] <= found.value <= found.interval[1]
    inside = found.holds[0] <= found.interval[0] and found.interval[1] <= found.holds[1]
    outside = found.interval[1] < found.holds[0] or found.interval[0] > found.holds[1]
    verdict = decide(estimate, holds)
    assert inside == (verdict is Verdict.CONFIRMED)
    assert outside == (verdict is Verdict.REFUTED)
