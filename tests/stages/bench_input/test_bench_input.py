"""What bench_input derives from its samples, and says on the page."""

import pytest

from stages.bench_input.__main__ import summarise
from stages.bench_input.measure import names
from tests.made_up import measurements


def test_resident_images_are_compared_with_the_books_by_whole_epochs():
    m = summarise(measurements("bench_input", "cpu-virtual"))
    assert m[names.RESIDENT_OVER_BOOK] == pytest.approx(200, rel=1e-2)
    assert m[names.BOOK_EPOCH_S] == pytest.approx(3, rel=1e-2)
    assert m[names.RESIDENT_EPOCH_S] == pytest.approx(0.015, rel=1e-2)
    assert m[names.BOOK_FIRST_BATCH_MS] == pytest.approx(80, rel=1e-2)
