"""A link fitted to times: it is found again, with its interval, and its limits are said."""

import numpy as np
import pytest

from lab.parallel import link_fit
from lab.parallel.cost_model import (
    ADDING,
    MODELLED,
    RING,
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


def test_no_number_of_a_link_is_below_zero():
    sizes = (1e3, 1e5, 1e7)
    latency_only = [(Path(2, 2.0 * size, size), [2e-4 - 1e-12 * size] * 8) for size in sizes]
    link = link_fit.fit_link(latency_only)
    assert link.alpha_s == pytest.approx(1e-4, rel=0.05)
    assert (link.s_per_byte, link.add_s_per_byte) == (0, 0)
