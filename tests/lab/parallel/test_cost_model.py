"""The cost model against closed forms, its limits, the book's example, and a link that is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.parallel import cost_model
from lab.parallel.cost_model import Link, Path, allreduce_path, allreduce_s

NAMES = ("star", "ring", "tree", "halving-doubling")
LINK = Link(1e-4, 5e-10, 1e-10)
ranks = st.integers(1, 300)
sizes = st.floats(0, 1e9)


@pytest.mark.parametrize(
    ("name", "n", "messages", "sent", "added"),
    [
        ("star", 4, 6, 6, 3),
        ("ring", 4, 6, 1.5, 0.75),
        ("tree", 4, 4, 4, 2),
        ("tree", 5, 6, 6, 3),
        ("halving-doubling", 4, 4, 1.5, 0.75),
        (
            "halving-doubling",
            6,
            6,
            3.5,
            1.75,
        ),  # four ranks, and two that hand over a vector and get one back
    ],
)
def test_paths_are_those_counted_by_hand(name, n, messages, sent, added):
    assert allreduce_path(name, n, 1, 100.0) == pytest.approx(
        Path(messages, 100 * sent, 100 * added)
    )
    expected = messages * 1e-4 + 100 * (sent * 5e-10 + added * 1e-10)
    assert allreduce_s(name, n, 1, 100.0, LINK) == pytest.approx(expected)
    assert allreduce_path(name, n, 76, 100.0).messages == 76 * messages, (
        "tensor by tensor: as many bytes"
    )


@given(st.sampled_from(NAMES), sizes, st.booleans())
def test_one_rank_pays_nothing(name, size, shared):
    assert allreduce_s(name, 1, 8, size, LINK, shared) == 0
    assert cost_model.bytes_sent(name, 1, size) == 0


@given(st.sampled_from(NAMES), st.integers(2, 300), sizes, sizes, st.booleans())
def test_more_bytes_or_tensors_never_take_less(name, n, size, more, shared):
    least = allreduce_s(name, n, 1, size, LINK, shared)
    assert allreduce_s(name, n, 1, size + more, LINK, shared) >= least
    assert allreduce_s(name, n, 2, size, LINK, shared) > least


@given(st.sampled_from(("star", "ring", "tree")), ranks)
def test_more_ranks_never_take_less(name, n):
    for shared in (False, True):
        assert allreduce_s(name, n + 1, 1, 1e6, LINK, shared) >= allreduce_s(
            name, n, 1, 1e6, LINK, shared
        )


def test_the_rings_volume_tends_to_twice_the_vector_and_two_ranks_need_no_tree():
    volumes = [cost_model.bytes_sent("ring", n, 1.0) for n in (2, 3, 10, 1000)]
    assert volumes == pytest.approx([1, 4 / 3, 1.8, 1.998])
    for shared in (False, True):
        assert allreduce_path("tree", 2, 3, 1e6, shared) == allreduce_path(
            "star", 2, 3, 1e6, shared
        )


@given(st.sampled_from(NAMES), ranks)
def test_where_all_is_shared_only_messages_differ_and_nothing_is_faster(name, n):
    shared = allreduce_path(name, n, 1, 1.0, shared=True)
    assert shared[1:] == (2 * (n - 1), n - 1)
    assert all(a <= b + 1e-9 for a, b in zip(allreduce_path(name, n, 1, 1.0), shared, strict=True))


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(ValueError, match="expected one of star, ring"):
        allreduce_s("library", 2, 1, 1.0, LINK)


def test_bus_bandwidth_is_the_links_where_the_ring_is_the_best_there_is():
    free = Link(0, 5e-10)
    for n in (2, 3, 8):
        assert cost_model.bus_bandwidth(
            1e6, n, allreduce_s("ring", n, 1, 1e6, free)
        ) == pytest.approx(2e9)


def made_up_samples(noise: float, shared: bool = False) -> list[tuple[Path, list[float]]]:
    rng = np.random.default_rng(1)
    paths = [allreduce_path(name, 2, 1, 10.0**k, shared) for name in NAMES for k in range(2, 9)]
    paths += [Path(2, 2 * 10.0**k, 0) for k in range(2, 9)] + [Path(0, 0, 1e7)]
    return [(p, (p.seconds(LINK) * (1 + noise * rng.normal(size=20))).tolist()) for p in paths]


@pytest.mark.parametrize("shared", [False, True])
def test_a_link_is_found_again_from_noisy_times(shared):
    exact = cost_model.fit_link(made_up_samples(0.0, shared), seed=0)
    assert np.abs(exact.errors).max() < 1e-6
    fitted = cost_model.fit_link(made_up_samples(0.05, shared), seed=0)
    for name in ("alpha_s", "s_per_byte", "add_s_per_byte"):
        true, low, high = (getattr(link, name) for link in (LINK, fitted.low, fitted.high))
        assert getattr(exact.link, name) == pytest.approx(true)
        assert getattr(fitted.link, name) == pytest.approx(true, rel=0.05)
        assert low <= true <= high
    again = cost_model.fit_link(made_up_samples(0.05, shared), seed=0)
    assert (again.link, again.low, again.high) == (fitted.link, fitted.low, fitted.high), "seeded"


def test_all_reduces_alone_cannot_tell_adding_from_sending():
    """Which is why a link is told from a message to and fro and an addition, too."""
    for name in NAMES:
        for n in (2, 3, 7, 8):
            _, sent, added = allreduce_path(name, n, 1, 1.0)
            assert sent == pytest.approx(2 * added)


def test_no_number_of_a_link_is_below_zero():
    latency_only = [
        (Path(2, 2.0 * size, size), [2e-4 - 1e-12 * size] * 8) for size in (1e3, 1e5, 1e7)
    ]
    fitted = cost_model.fit_link(latency_only, seed=0)
    assert fitted.link.alpha_s == pytest.approx(1e-4, rel=0.05)
    assert (fitted.link.s_per_byte, fitted.link.add_s_per_byte) == (0, 0)


def test_too_few_paths_or_odd_rounds_are_refused():
    for samples in ([(Path(1, 1, 0), [1.0])] * 2, [(Path(1, 1, 0), [1.0] * k) for k in (1, 2, 3)]):
        with pytest.raises(ValueError, match="three or more paths"):
            cost_model.fit_link(samples, seed=0)


def test_errors_are_summed_up_without_their_sign():
    assert cost_model.typical_errors([-0.5, 0.1, 0.2]) == pytest.approx((20, 50))


def test_the_books_160_mb():
    example = {"num_bytes": 160e6, "bytes_per_s": 16e9, "num_gpus": 4}
    assert cost_model.one_gpu_aggregates_s(**example) == pytest.approx(0.060)
    assert cost_model.cpu_aggregates_s(**example) == pytest.approx(0.080)
    assert cost_model.every_gpu_aggregates_s(**example) == pytest.approx(0.015)
    free = Link(0, 1 / 16e9)
    assert allreduce_s("star", 4, 1, 160e6, free) == pytest.approx(0.060)
    assert allreduce_s("ring", 4, 1, 160e6, free) == pytest.approx(0.015)


def test_a_step_lies_between_its_bounds_and_crosses_where_computing_takes_as_long():
    assert cost_model.step_bounds(3.0, 2.0) == (3.0, 5.0)
    batch = cost_model.crossing_batch(t1_fixed_s=0.001, t1_per_image_s=1e-5, t2_s=0.003, n=4)
    assert batch == pytest.approx(800)
    assert 0.001 + 1e-5 * batch / 4 == pytest.approx(0.003)
    assert cost_model.crossing_batch(0.01, 1e-5, 0.003, 4) == 0, (
        "a device computes for longer whatever the batch"
    )


@pytest.mark.parametrize(
    ("ready", "cost", "expected"),
    [
        ([], [], 10.0),
        ([10.0], [4.0], 14.0),  # one bucket overlaps with nothing
        ([2.0, 5.0, 10.0], [3.0, 3.0, 1.0], 11.0),  # ends at 5, 8, 11
        ([2.0, 5.0, 10.0], [6.0, 6.0, 6.0], 20.0),  # the link is never idle from 2 on
        ([2.0, 5.0, 6.0], [1.0, 1.0, 1.0], 10.0),  # hidden whole
    ],
)
def test_buckets_are_reduced_in_turn_while_the_rest_is_computed(ready, cost, expected):
    assert cost_model.step_with_buckets(ready, cost, 10.0) == expected


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=1, max_size=9))
def test_a_step_with_buckets_is_never_outside_the_bounds(buckets):
    ready, cost = sorted(r for r, _ in buckets), [c for _, c in buckets]
    low, high = cost_model.step_bounds(10.0, sum(cost))
    step = cost_model.step_with_buckets(ready, cost, 10.0)
    assert low - 1e-9 <= step <= high + 1e-9


def test_published_links_say_what_is_assumed():
    assert len({one.name for one in cost_model.INTERCONNECTS}) == len(cost_model.INTERCONNECTS)
    gloo = cost_model.INTERCONNECTS[-1]
    assert not gloo.latency_is_assumed
    published = {40: 0.20e-3, 4e6: 2.1e-3, 40e6: 16.6e-3}  # torchft issue 199
    for size, seconds in published.items():
        foretold = gloo.link.alpha_s + size * gloo.link.s_per_byte
        assert math.isclose(foretold, seconds, rel_tol=0.15)
