import pytest
import torch

import lab.core.params
from lab.results.measurements import Results
from stages.bench_hardware import names, peak
from stages.bench_hardware.params import Params
from tests.helpers import edit_params


def test_rates_are_flop_and_bytes_over_seconds_for_each_number_of_threads(project, monkeypatch):
    edit_params({"bench_hardware.matrix_size": 20, "bench_hardware.copy_mib": 1})
    params = lab.core.params.load(Params)
    monkeypatch.setattr(peak, "time_arms", lambda arms, *_: dict.fromkeys(arms, (1e-3, 2e-3)))
    before = torch.get_num_threads()
    results = Results(peak.measure_processor_peak(params, cores=6))
    torch.set_num_threads(before)
    assert results.arms(names.PEAK) == [names.FLOAT64, names.FLOAT32, names.BFLOAT16]
    for demo, arm, per_ms in (
        (names.PEAK, names.FLOAT32, 2 * 20**3 / 1e6),
        (names.BANDWIDTH, names.COPY, 2 * 2**20 / 1e6),
    ):
        series = results.series(demo, arm)
        assert [(m.x, m.threads) for m in series] == [(1, 1), (2, 2), (4, 4), (6, 6)]
        assert all(m.values == pytest.approx((per_ms, per_ms / 2)) for m in series), arm
