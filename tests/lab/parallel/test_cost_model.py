"""The cost model against closed forms, its limits, the book's example, and published times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.parallel import cost_model
from lab.parallel.cost_model import (
    HALVING_DOUBLING,
    MODELLED,
    RING,
    STAR,
    TREE,
    Link,
    Path,
    allreduce_path,
    allreduce_s,
)

LINK = Link(1e-4, 5e-10, 1e-10)
ranks = st.integers(1, 300)
sizes = st.floats(0, 1e9)


@pytest.mark.parametrize(
    ("name", "n", "messages", "sent", "added"),
    [
        (STAR, 4, 6, 6, 3),
        (RING, 4, 6, 1.5, 0.75),
        (TREE, 4, 4, 4, 2),
        (TREE, 5, 6, 6, 3),
        (HALVING_DOUBLING, 4, 4, 1.5, 0.75),
        # four ranks, and two that hand over a vector and get one back
        (HALVING_DOUBLING, 6, 6, 3.5, 1.75),
    ],
)
def test_paths_counted_by_hand(name, n, messages, sent, added):
    by_hand = Path(messages, 100 * sent, 100 * added)
    assert allreduce_path(name, n, 1, 100.0) == pytest.approx(by_hand)
    expected = messages * 1e-4 + 100 * (sent * 5e-10 + added * 1e-10)
    assert allreduce_s(name, n, 1, 100.0, LINK) == pytest.approx(expected)
    tensor_by_tensor = allreduce_path(name, n, 76, 100.0)
    assert tensor_by_tensor.messages == 76 * messages


@given(st.sampled_from(MODELLED), sizes, st.booleans())
def test_one_rank_pays_nothing(name, size, shared):
    assert allreduce_s(name, 1, 8, size, LINK, shared) == 0
    assert cost_model.bytes_sent(name, 1, size) == 0


@given(st.sampled_from(MODELLED), st.integers(2, 300), sizes, sizes, st.booleans())
def test_more_bytes_or_tensors_never_take_less(name, n, size, more, shared):
    least = allreduce_s(name, n, 1, size, LINK, shared)
    assert allreduce_s(name, n, 1, size + more, LINK, shared) >= least
    assert allreduce_s(name, n, 2, size, LINK, shared) > least


@given(st.sampled_from((STAR, RING, TREE)), ranks, st.booleans())
def test_more_ranks_never_take_less(name, n, shared):
    fewer, more = (allreduce_s(name, count, 1, 1e6, LINK, shared) for count in (n, n + 1))
    assert more >= fewer


def test_volume_of_the_ring_tends_to_twice_the_vector():
    volumes = [cost_model.bytes_sent(RING, n, 1.0) for n in (2, 3, 10, 1000)]
    assert volumes == pytest.approx([1, 4 / 3, 1.8, 1.998])


@given(st.sampled_from(MODELLED), ranks)
def test_shared_link_carries_all_bytes(name, n):
    shared = allreduce_path(name, n, 1, 1.0, shared=True)
    assert shared[1:] == (2 * (n - 1), n - 1)
    assert all(a <= b + 1e-9 for a, b in zip(allreduce_path(name, n, 1, 1.0), shared, strict=True))


def test_times_match_the_books_example_of_160_mb():
    free = Link(0, 1 / 16e9)
    assert allreduce_s(STAR, 4, 1, 160e6, free) == pytest.approx(0.060)
    assert allreduce_s(RING, 4, 1, 160e6, free) == pytest.approx(0.015)


@pytest.mark.parametrize(("size", "seconds"), [(40, 0.20e-3), (4e6, 2.1e-3), (40e6, 16.6e-3)])
def test_predictions_match_published_times_of_gloo(size, seconds):
    """The times are from torchft's issue 199."""
    gloo = cost_model.INTERCONNECTS[-1]
    assert not gloo.latency_is_assumed
    predicted = gloo.link.alpha_s + size * gloo.link.s_per_byte
    assert predicted == pytest.approx(seconds, rel=0.15)
