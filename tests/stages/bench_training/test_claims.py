import pytest

from stages.bench_training.page.claims import over_the_notes


@pytest.mark.parametrize(("workers", "ratio"), [(4, 2.0), (0, 3.0)])
def test_peer_against_loop_with_its_own_loader(workers, ratio):
    assert over_the_notes([18] * 8, workers, [9] * 8, [6] * 8).value == ratio
