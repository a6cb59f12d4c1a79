"""What bench_parallel derives from its samples."""

import pytest

from tests.made_up import measurements, metrics


def test_the_speedup_is_that_of_together_over_one_after_the_other():
    m = metrics("bench_parallel", measurements("bench_parallel", "cpu-virtual"), "cpu-virtual")
    assert (m["speedup"], m["speedup_bound"], m["size"]) == (1.6, 2.0, 400)
    assert m["first_gflop_per_s"] == pytest.approx(2 * 50 * 400**3 / 50e-3 / 1e9, rel=1e-2)
