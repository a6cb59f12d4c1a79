"""A link fitted to times: it is found again, with its interval, and its limits are said."""

import numpy as np
import pytest

from lab.parallel import link_fit
from lab.parallel.cost_model import (
    ADDING,
    LIBRARY,
    MODELLED,
    RING,
    STAR,
    THERE_AND_BACK,
    Link,
    Path,
    allreduce_path,
)
from lab.results.measurements import Measurement

LINK = Link(1e-4, 5e-10, 1e-10)
NUMBERS = ("alpha_s", "s_per_byte", "add_s_per_byte")


def noisy_samples(noise: float, shared: bool = False) -> list[tuple[Path, list[float]]]:
    rng = np.random.default_rng(1)
    paths = [allreduce_path(name, 2, 1, 10.0**k, shared) for name in MODELLED for k in range(2, 9)]
    paths += [Path(2, 2 * 10.0**k, 0) for k in range(2, 9)] + [Path(0, 0, 1e7)]
    return [(p, (p.seconds(LINK) * (1 + noise * rng.normal(size=20))).tolist()) for p in paths]


@pytest.mark.parametrize("shared", [False, True])
def test_link_is_found_again_from_noisy_times(shared):
    samples = noisy_samples(0.0, shared)
    exact = link_fit.fit_link(samples)
    assert np.abs(link_fit.errors(exact, samples)).max() < 1e-6
    noisy = noisy_samples(0.05, shared)
    fitted, (lowest, highest) = link_fit.fit_link(noisy), link_fit.link_interval(noisy)
    for name in NUMBERS:
        true, low, high = (getattr(link, name) for link in (LINK, lowest, highest))
        assert getattr(exact, name) == pytest.approx(true)
        assert getattr(fitted, name) == pytest.approx(true, rel=0.05)
        assert low <= true <= high


def test_interval_is_that_of_the_medians_over_the_starts():
    """Eight starts, the whole range: the slowest and the fastest are its ends."""
    paths = [allreduce_path(name, 2, 1, 10.0**k) for name in MODELLED for k in (2, 5, 8)]
    paths += [Path(2, 2e8, 0), Path(0, 0, 1e7)]
    starts = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 2.0]
    samples = [(path, [path.seconds(LINK) * slower for slower in starts]) for path in paths]
    low, high = link_fit.link_interval(samples)
    for name in NUMBERS:
        true = getattr(LINK, name)
        assert getattr(link_fit.fit_link(samples), name) == pytest.approx(1.35 * true)
        assert (getattr(low, name), getattr(high, name)) == pytest.approx((true, 2 * true))


def single_messages(shared: bool) -> list[Measurement]:
    """Times of three ranks just as the model has them, but for those that it is not about."""

    def one(variant: str, num_bytes: float, seconds: float) -> Measurement:
        return Measurement("", variant, num_bytes, (1e3 * seconds,) * 8, "ms", "cpu-virtual")

    made = [
        one(name, size, allreduce_path(name, 3, 1, size, shared).seconds(LINK))
        for name in MODELLED
        for size in (12, 1e5, 1e7)
    ]
    made += [one(THERE_AND_BACK, size, Path(2, 2 * size, 0).seconds(LINK)) for size in (12, 1e7)]
    made.append(one(ADDING, 1e7, 0.5e7 * (3 if shared else 1) * LINK.add_s_per_byte))
    return [*made, one(RING, 8, 1.0), one(ADDING, 1e3, 1.0)]


@pytest.mark.parametrize("shared", [False, True])
def test_better_of_both_links_comes_first(shared):
    better, other = link_fit.fit_both(single_messages(shared), 3)
    assert (better.shared, other.shared) == (shared, not shared)
    assert len(better.errors) == 3 * len(MODELLED) + 3, "not those of no number, or too short"
    assert max(map(abs, better.errors)) < 1e-6 < 0.01 < max(map(abs, other.errors))
    for name in NUMBERS:
        assert getattr(better.link, name) == pytest.approx(getattr(LINK, name))


def test_time_without_a_path_is_refused():
    with pytest.raises(ValueError, match="expected one of star, ring"):
        link_fit.samples_of([Measurement("", LIBRARY, 1e6, (1.0,), "ms", "cpu-virtual")], 2, False)


def test_no_number_of_a_link_is_below_zero():
    sizes = (1e3, 1e5, 1e7)
    latency_only = [(Path(2, 2.0 * size, size), [2e-4 - 1e-12 * size] * 8) for size in sizes]
    link = link_fit.fit_link(latency_only)
    assert link.alpha_s == pytest.approx(1e-4, rel=0.05)
    assert (link.s_per_byte, link.add_s_per_byte) == (0, 0)


@pytest.mark.parametrize("starts", [[1, 1], [1, 2, 3]])
def test_too_few_paths_or_odd_starts_are_refused(starts):
    with pytest.raises(ValueError, match="three or more paths"):
        link_fit.fit_link([(Path(1, 1, 0), [1.0] * count) for count in starts])


def test_typical_errors_are_relative_and_without_sign():
    [error] = link_fit.errors(LINK, [(allreduce_path(STAR, 2, 1, 0.0), [4e-4, 5e-4, 4e-4])])
    assert error == pytest.approx(-0.5)
    assert link_fit.typical_errors([-0.5, 0.1, 0.2]) == pytest.approx((20, 50))
