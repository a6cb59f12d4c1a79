"""The notes' programs without a GPU: which stop is torch's doing, how that is told is ours."""

from lab.claims.notes import places_of
from stages.replicas.measure.names import PLACES
from stages.replicas.measure.without_gpu import PROGRAMS, stop_of
from tests.helpers import claim_of


def test_a_program_that_stops_tells_its_error_in_a_line_and_one_that_runs_nothing():
    def stopping():
        raise ValueError("no GPU\nException raised from somewhere")

    assert stop_of(stopping) == "ValueError: no GPU"
    assert stop_of(lambda: None) == ""


def test_every_program_stands_in_a_note_and_is_counted():
    assert list(PROGRAMS) == list(PLACES)
    assert all(len(list(places_of(places))) for places in PLACES.values())
    assert f" {len(PROGRAMS)} programs" in claim_of("G12n").rule.unit
