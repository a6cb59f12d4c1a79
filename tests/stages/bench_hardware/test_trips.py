import torch

import lab.core.params
from lab.machine.devices import processor
from stages.bench_hardware.measure import names, trips
from stages.bench_hardware.measure.params import Params
from tests.helpers import edit_params


def test_products_are_the_same_wherever_their_results_go(project):
    """On a CPU nothing jumps anywhere, but the arms can be called."""
    edit_params({"bench_hardware.copy_mib": 1})
    params = lab.core.params.load(Params)
    arms = trips.trip_arms(params, torch.device("cpu"), rows=16)
    assert tuple(arms) == trips.ARMS
    made = {name: arm() for name, arm in arms.items()}
    assert torch.equal(made[names.JUMPS], made[names.STAYS])
    assert torch.equal(made[names.THERE_AND_BACK], made[names.ON_THE_GPU])
    assert 1e-3 < made[names.STAYS].mean() < 1e3, "they neither grow nor fade"


def test_without_a_gpu_every_arm_has_its_reason(project):
    found = trips.measure_trips(lab.core.params.load(Params), processor(1), 0)
    assert [(m.arm, m.remark) for m in found] == [
        (arm, "skipped: needs a CUDA GPU") for arm in trips.ARMS
    ]
