"""What bench_input derives from its samples, and says on the page."""

import pytest

from stages.bench_input.__main__ import summarise
from stages.bench_input.measure import names
from stages.bench_input.page import section
from tests.made_up import measurements, write


def test_resident_images_are_compared_with_the_books_by_whole_epochs():
    m = summarise(measurements("bench_input", "cpu-virtual"))
    assert m[names.RESIDENT_OVER_BOOK] == pytest.approx(200, rel=1e-2)
    assert m[names.BOOK_EPOCH_S] == pytest.approx(3, rel=1e-2)
    assert m[names.RESIDENT_EPOCH_S] == pytest.approx(0.015, rel=1e-2)
    assert m[names.BOOK_FIRST_BATCH_MS] == pytest.approx(80, rel=1e-2)


def test_the_page_tells_of_epochs_and_of_each_part_of_a_step(tmp_path):
    write("bench_input", tmp_path, "cpu-virtual")
    part = section.section(tmp_path / "bench_input")
    assert "arrive 200 times as fast" in part.answer
    assert part.answer.endswith("an epoch in 0.015 s, not 3 s.")
    _, parts = part.tables
    rows = {
        row[0]: [cell.split()[0] for cell in map(str, row[1:])] for row in parts.rows
    }  # medians
    # 2 to 7 ms, twice as much with workers and half as much again without
    assert rows[names.LOAD] == ["4.00", "3.00", "2.00", "2.00"]
    assert rows[names.EVALUATION] == ["3.00", "3.00", "3.00", "–"]
    assert [float(ms) for ms in rows[names.WHOLE]] == pytest.approx([54, 40.5, 27, 27], rel=1e-3)
    assert "takes 2 times as long" in " ".join(part.findings)
