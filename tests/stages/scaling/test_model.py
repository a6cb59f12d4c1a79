"""Fits of a link to times: they recover it with its interval, and are never negative."""

import numpy as np
import pytest

from lab.parallel.cost_model import (
    ADDING,
    MODELLED,
    RING,
    THERE_AND_BACK,
    Link,
    Path,
    allreduce_path,
)
from lab.results.measurements import Measurement, Results
from stages.scaling.model import errors_percent, fit_links, models_of

LINK = Link(1e-4, 5e-10, 1e-10)
NUMBERS = ("alpha_s", "s_per_byte", "add_s_per_byte")


def three_ranks(noise: float, shared: bool) -> Results:
    """Return times of three ranks by the model, and two that the model does not cover."""
    rng = np.random.default_rng(1)

    def one(variant: str, num_bytes: float, seconds: float) -> Measurement:
        ms = tuple((1e3 * seconds * (1 + noise * rng.normal(size=20))).tolist())
        return Measurement("message", variant, num_bytes, ms, "ms", columns={"ranks": 3})

    made = [
        one(name, 10.0**k, allreduce_path(name, 3, 1, 10.0**k, shared).seconds(LINK))
        for name in MODELLED
        for k in range(2, 9)
    ]
    made += [one(THERE_AND_BACK, 10.0**k, Path(2, 2 * 10.0**k, 0).seconds(LINK)) for k in (2, 8)]
    made.append(one(ADDING, 1e7, 0.5e7 * (3 if shared else 1) * LINK.add_s_per_byte))
    # 8 bytes leave some rank no number to sum
    return Results([*made, one(RING, 8, 1.0), one("library", 1e5, 1.0)])


@pytest.mark.parametrize("shared", [False, True])
def test_the_link_is_recovered_from_noisy_times(shared):
    exact, other = models_of(three_ranks(0.0, shared))
    assert (exact.shared, other.shared) == (shared, not shared)
    assert exact.error_percent < 1e-4 < 1 < other.error_percent
    noisy = models_of(three_ranks(0.05, shared))[0]
    lowest, highest = noisy.interval()
    for name in NUMBERS:
        true, low, high = (getattr(link, name) for link in (LINK, lowest, highest))
        assert getattr(exact.link, name) == pytest.approx(true)
        assert getattr(noisy.link, name) == pytest.approx(true, rel=0.05)
        assert low <= true <= high


def test_no_number_of_a_link_is_below_zero():
    sizes = (1e3, 1e5, 1e7)
    latency_only = [(Path(2, 2.0 * size, size), [2e-4 - 1e-12 * size] * 8) for size in sizes]
    [link, *_] = (Link(*numbers) for numbers in fit_links(latency_only).tolist())
    assert link.alpha_s == pytest.approx(1e-4, rel=0.05)
    assert (link.s_per_byte, link.add_s_per_byte) == (0, 0)
    assert max(errors_percent(link, latency_only)) < 10
