"""Simulated scaling: the ideal without costs of communication, less with them; known runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.parallel.cost_model import HALVING_DOUBLING, RING, Link, two_level_s
from stages.scaling.measure import simulated
from stages.scaling.measure.simulated import NETWORKS, PUBLISHED, cluster_weak


def test_eight_gpus_take_the_published_29_hours():
    """And 256 of them the published hour, at the published efficiency, but for a rounding."""
    steps = simulated.EPOCHS * simulated.IMAGES / 256
    assert simulated.computing_s(32) * steps == pytest.approx(29 * 3600)
    [goyal] = [run for run in PUBLISHED if run.devices == 256]
    assert simulated.computing_s(32) / goyal.step_s == pytest.approx(goyal.efficiency, abs=0.01)


def test_two_levels_are_a_ring_in_each_host_and_one_vector_between_them():
    """4 hosts of 2: the ring in a host moves a vector once; among 4 a ring 1.5 of it, 6 messages,
    halving-doubling as many bytes in 4.
    """
    inside, between = Link(1e-3, 1e-6), Link(1.0, 1e-3)
    in_host = 2 * 1e-3 + 1.0 * 1000 * 1e-6
    by_ring = two_level_s(RING, 4, 2, 1000, inside, between)
    assert by_ring == pytest.approx(in_host + 6 * 1.0 + 1.5 * 1000 * 1e-3)
    halving = two_level_s(HALVING_DOUBLING, 4, 2, 1000, inside, between)
    assert halving == pytest.approx(in_host + 4 * 1.0 + 1.5 * 1000 * 1e-3)
    assert two_level_s(RING, 1, 2, 1000, inside, between) == pytest.approx(in_host)


def test_goyals_run_lies_between_no_overlap_and_full_overlap():
    [goyal] = [run for run in PUBLISHED if run.devices == 256]
    [without] = cluster_weak([32], NETWORKS["50 Gb/s"])
    assert without < goyal.efficiency < 1
    assert 1e3 * goyal.t2_s == pytest.approx(2 * 31 / 32 * 102.228 / 6.25 + 10 * 0.03, rel=1e-3)


@given(st.sampled_from(list(NETWORKS)), st.integers(1, 12_500))
def test_no_network_keeps_more_than_the_ideal_and_a_faster_one_never_less(name, hosts):
    slow, fast = NETWORKS["25 Gb/s"], NETWORKS[name]
    assert cluster_weak([1], fast) == [1]
    assert cluster_weak([hosts], slow)[0] <= cluster_weak([hosts], fast)[0] <= 1
