"""What bench_hardware derives from its samples."""

import pytest
import torch

import lab.core.params
from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_hardware.__main__ import summarise
from stages.bench_hardware.measure import names, roofline
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.page.explorables import COSTS
from stages.bench_hardware.page.section import section
from tests.made_up import measurements


def test_the_roof_is_the_best_of_the_device_that_the_networks_ran_on():
    on_gpu, on_cpu = (
        summarise(measurements("bench_hardware", kind)) for kind in ("cuda", "cpu-virtual")
    )
    assert on_gpu[names.PEAK_RATE] == pytest.approx(50_000, rel=1e-2)
    assert on_gpu[names.COPY_RATE] == pytest.approx(3000, rel=1e-2)
    assert on_cpu[names.PEAK_RATE] == pytest.approx(1000, rel=1e-2)
    assert on_cpu[names.COPY_RATE] == pytest.approx(1000, rel=1e-2)


def test_what_is_faster_is_over_1():
    m = summarise(measurements("bench_hardware", "cpu-virtual"))
    assert m[names.ROWS_OVER_COLUMNS] == pytest.approx(8, rel=1e-2)
    assert m[names.VECTORISED] == pytest.approx(100, rel=1e-2)


def test_a_gpus_peak_is_no_step_of_how_the_processor_scales(made_up_reports):
    part = section(made_up_reports / "cuda" / "bench_hardware")
    [scaling] = [text for text in part.findings if "scale" in text]
    assert "from 100 GFLOP/s on 1 thread to 1000 on 16: 10.00 times" in scaling


def test_a_gpu_gets_images_enough_that_launches_are_not_most_of_the_time(project, monkeypatch):
    monkeypatch.setattr(roofline, "NETS", {names.LENET: roofline.NETS[names.LENET]})
    params = lab.core.params.load(Params)
    images = {"cpu": params.bench_hardware.batch_size, "cuda": roofline.GPU_BATCH_SIZE}
    assert images["cpu"] < images["cuda"]
    for kind, count in images.items():
        counted = Results(roofline.count_networks(params, Devices(kind, [torch.device(kind)], 1)))
        gflop = counted.one(names.COUNTED_GFLOP, names.LENET).values[0]
        assert gflop == pytest.approx(count * COSTS[names.LENET].flop / 1e9)
