"""The notes' short cells as they run here."""

from stages.replicas.measure import short_cells


def test_get_params_gives_no_gradients():
    assert short_cells.gradients_of_zeros(0) == 0


def test_two_devices_get_half_of_the_rows_each():
    assert short_cells.fuller_share() == 50


def test_format_with_a_blank_prints_nothing():
    assert [short_cells.formats_that_print(f) for f in (".2f", ".2f ")] == [1, 0]
