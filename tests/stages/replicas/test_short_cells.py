"""The notes' short cells as they run here."""

import torch

from stages.replicas.measure import short_cells
from stages.replicas.measure.by_hand import CPU


def test_get_params_gives_no_gradients():
    assert short_cells.gradients_of_zeros(0) == 0


def test_two_devices_get_half_of_the_rows_each():
    assert short_cells.fuller_share() == 50


def test_format_with_a_blank_prints_nothing():
    assert [short_cells.formats_that_print(f) for f in (".2f", ".2f ")] == [1, 0]


def test_an_accuracy_is_computed_on_all_of_two_gpus_or_on_the_cpu():
    gpus = [torch.device("cuda", i) for i in range(min(2, torch.cuda.device_count()))]
    assert short_cells.evaluating_devices(gpus or [CPU]) == max(1, len(gpus))
