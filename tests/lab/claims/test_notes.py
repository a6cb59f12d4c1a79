import pytest

from lab.claims.notes import BOOK, Place, places_of


def test_places_in_notes_and_book():
    lines, one, book = places_of("001:62-70 000:427 book:13.5")
    assert lines == Place("001", 62, 70)
    assert (one.first, one.last) == (427, 427)
    assert book == Place(BOOK, section="13.5")


@pytest.mark.parametrize(
    "text", ["", "005:1", "000:0", "000:561", "000:20-10", "000", "000:x", "book:11.2", "note 3"]
)
def test_place_that_does_not_exist(text):
    with pytest.raises(ValueError, match=r"place such as|has lines 1 to"):
        list(places_of(text))
