"""The notes' cells as they run here, and without a GPU."""

import torch

from lab.claims.notes import places_of
from lab.results.measurements import Results
from stages.replicas.findings import findings
from stages.replicas.measure import notes_cells
from stages.replicas.measure.names import PROGRAMS
from stages.replicas.measure.notes_cells import CPU, REDUCED, error_of


def test_get_params_gives_no_gradients():
    assert notes_cells.gradients_of_zeros(0) == 0


def test_two_devices_get_half_of_the_rows_each():
    assert notes_cells.fuller_share() == 50


def test_format_with_a_blank_prints_nothing():
    assert [notes_cells.formats_that_print(f) for f in (".2f", ".2f ")] == [1, 0]


def test_accuracy_is_computed_on_both_of_two_gpus_or_on_the_cpu():
    gpus = [torch.device("cuda", i) for i in range(min(2, torch.cuda.device_count()))]
    assert notes_cells.evaluating_devices(gpus or [CPU]) == max(1, len(gpus))


def test_a_program_that_stops_has_its_error_in_one_line_and_one_that_runs_has_none():
    def stopping():
        raise ValueError("no GPU\nException raised from somewhere")

    assert error_of(stopping) == "ValueError: no GPU"
    assert error_of(lambda: None) == ""


def test_every_program_is_in_a_note_and_is_counted():
    assert all(len(list(places_of(place))) for place in PROGRAMS.values())
    assert len(REDUCED) == len(PROGRAMS)
    assert f" {len(PROGRAMS)} programs" in findings(Results([]))["programs_that_stop"].unit
