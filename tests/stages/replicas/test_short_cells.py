"""The notes' short cells as they run here."""

import torch

from lab.data import synthetic
from stages.replicas.measure import short_cells
from stages.replicas.measure.names import (
    CHANGED_ORIGINALS,
    FULLER_SHARE,
    NEITHER_SUM_NOR_MEAN,
    NONES,
    REBINDING_HIDES,
    SUM_OFF,
    UNEVEN,
    ZEROS,
)


def batch():
    images, labels = synthetic.fashion(5, 0)
    return torch.from_numpy(images), torch.from_numpy(labels.astype("int64"))


def test_get_params_gives_no_gradients_and_changes_the_originals():
    assert short_cells.get_params_cell(0) == {ZEROS: 0, NONES: 8, CHANGED_ORIGINALS: 8}


def test_the_all_reduce_demo_hides_what_rebinding_leaves_undone():
    found = short_cells.allreduce_cell()
    assert found == {SUM_OFF: 0, NEITHER_SUM_NOR_MEAN: 0, REBINDING_HIDES: 1}


def test_an_all_reduce_that_averages_halves_the_step(one_thread):
    assert abs(short_cells.mean_update_percent(*batch(), seed=0) - 50) < 0.01


def test_scatter_leaves_devices_without_images():
    """Nine images over eight devices: chunks of two, so that three devices get none."""
    found = short_cells.scatter_cell()
    assert found[FULLER_SHARE] == 50
    assert found[UNEVEN] >= 2


def test_what_python_and_torch_refuse():
    assert short_cells.refused_additions() == 1
    assert [short_cells.formats_that_print(f) for f in (".2f", ".2f ")] == [1, 0]


def test_nn_dataparallel_runs_on_one_device(one_thread):
    assert short_cells.steps_on_one_device(*batch(), seed=0) == short_cells.NUM_STEPS
