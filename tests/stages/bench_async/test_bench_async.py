"""What bench_async derives from its samples."""

import pytest

from tests.made_up import measurements, metrics


def test_a_queue_shows_as_a_call_that_returns_early():
    on_gpu, on_cpu = (
        metrics("bench_async", measurements("bench_async", kind), kind)
        for kind in ("cuda", "cpu-virtual")
    )
    assert on_gpu["return_over_finish"] == pytest.approx(0.01)
    assert on_cpu["return_over_finish"] == pytest.approx(1)
    assert on_gpu["book_claims"] == pytest.approx(200)
    assert on_gpu["book_waited_for"] == on_cpu["book_waited_for"] == pytest.approx(2)
    assert on_cpu["waiting_after_each_us_per_operation"] == pytest.approx(3, rel=1e-2)
    assert on_cpu["item_costs_us"] == pytest.approx(3, rel=1e-2)
