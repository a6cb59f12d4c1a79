"""What a benchmark was measured on."""

import pytest

from lab.report.benchmarks import on_virtual_devices, trust

CONDITIONS = {"threads_per_device": 1, "starts": 5, "noisy_percent": 10.0, "busy_percent": 0.0}


@pytest.mark.parametrize(
    ("kind", "devices", "virtual"),
    [("cpu-virtual", 1, False), ("cpu-virtual", 2, True), ("cpu", 1, False), ("cuda", 2, False)],
)
def test_one_share_of_the_processor_stands_for_no_device(kind, devices, virtual):
    taken = CONDITIONS | {"device_kind": kind, "num_devices": devices, "controls": 0}
    assert on_virtual_devices(taken) is virtual
    assert ("virtual" in trust(taken, "bench_async")[0]) is virtual


def test_much_noise_has_a_remedy():
    taken = CONDITIONS | {"device_kind": "cpu", "num_devices": 1, "controls": 0}
    assert not any("remeasure" in each for each in trust(taken, "scaling"))
    noisy = trust(taken | {"noisy_percent": 60.0}, "scaling")
    assert any("invoke remeasure --stage scaling" in each for each in noisy)
    assert trust({}, "train") == []
