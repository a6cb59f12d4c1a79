"""All-reduce over messages, among real processes: right for every number of ranks and length."""

import json
import subprocess
import sys

import pytest

from lab.parallel import cost_model
from lab.parallel.allreduce.collectives import ALGORITHMS
from tests.helpers import ROOT
from tests.lab.parallel.allreduce.collective_ranks import COUNTED, LENGTHS, ORDERS, WORLD_SIZES

pytestmark = pytest.mark.slow

BY_HAND = sorted(ORDERS)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What eight ranks, and groups of fewer of them, found."""
    file = tmp_path_factory.mktemp("collectives") / "found.json"
    ranks = [sys.executable, "-m", "tests.lab.parallel.allreduce.collective_ranks", str(file)]
    subprocess.run(ranks, cwd=ROOT, check=True, timeout=120)
    return {int(n): facts for n, facts in json.loads(file.read_text()).items()}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_sums_are_exact_and_in_the_documented_order_in_all_ranks(found, name):
    assert set(found) == set(WORLD_SIZES)
    for n, facts in found.items():
        sums = facts["algorithms"][name]["sums"]
        assert len(sums) == len(LENGTHS)
        for length, result in sums.items():
            assert result == {"exact": True, "ordered": True}, (n, length)


@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_sent_is_what_the_model_counts(found, name):
    num_bytes = 4 * COUNTED
    for n, facts in found.items():
        sent = facts["algorithms"][name]["sent"]
        all_of_it = cost_model.allreduce_path(name, n, 1, num_bytes, shared=True)
        assert sent["most_bytes"] == pytest.approx(
            cost_model.bytes_sent(name, n, num_bytes), abs=1e-6
        ), n
        assert (sent["messages"], sent["bytes"]) == (all_of_it.messages, all_of_it.sent_bytes), n


def test_lists_are_summed_tensor_by_tensor_and_in_one_bucket(found):
    assert all(facts["lists"] for facts in found.values())


def test_the_probes_do_what_they_say(found):
    assert all(facts["probes"] for n, facts in found.items() if n > 1)
