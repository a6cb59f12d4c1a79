import torch

from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_compile.measure import cases, names
from tests.stages.bench_compile.test_form_times import PARAMS


def test_each_network_is_timed_eager_and_as_torchscript(monkeypatch):
    called = []

    def time_arms(arms, *_):
        outputs = {name: arm() for name, arm in arms.items()}
        eager, scripted = outputs.values()
        torch.testing.assert_close(scripted, eager)
        assert not eager.requires_grad
        called.extend(outputs)
        return dict.fromkeys(arms, (1e-6,))

    monkeypatch.setattr(cases, "time_arms", time_arms)
    measured = cases.measure_cases(PARAMS, Devices("cpu-virtual", [torch.device("cpu")], 1), 0)
    networks = {arm.split(":")[0] for arm in called}
    assert len(networks) >= 3
    for network in networks:
        for form in (names.EAGER, names.SCRIPT):
            assert Results(measured).one(names.CASES, names.of_case(network, form))
