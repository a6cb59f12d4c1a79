import pytest

from lab.claims.notes import BOOK, Place, places_of


def test_places_in_notes_and_book():
    lines, one, book = places_of("001:62-70 000:427 book:13.5")
    assert lines == Place("001", 62, 70)
    assert lines.heading == "6.1.1 优化和深度学习"
    assert (one.first, one.last, one.heading) == (427, 427, "训练")
    assert (book.source, book.heading) == (BOOK, "13.5")


def test_heading_counts_from_its_own_line():
    before, after = places_of("001:6 001:7")
    assert (before.heading, after.heading) == ("6.1 优化算法理论", "6.1.1 优化和深度学习")


@pytest.mark.parametrize(
    "text", ["", "005:1", "000:0", "000:561", "000:20-10", "000", "000:x", "book:11.2", "note 3"]
)
def test_place_that_does_not_exist(text):
    with pytest.raises(ValueError, match=r"place such as|has lines 1 to"):
        list(places_of(text))
