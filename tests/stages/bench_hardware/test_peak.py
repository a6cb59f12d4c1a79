from types import SimpleNamespace

import pytest
import torch

import lab.core.params
from lab.machine.devices import processor
from lab.results.measurements import Results
from stages.bench_hardware.measure import names, peak, rates
from stages.bench_hardware.measure.params import Params
from tests.helpers import edit_params


@pytest.fixture
def params(project):
    edit_params({"bench_hardware.matrix_size": 20, "bench_hardware.copy_mib": 1})
    before = torch.get_num_threads()
    yield lab.core.params.load(Params)
    torch.set_num_threads(before)


def test_rates_are_amounts_over_seconds_for_each_number_of_threads(params, monkeypatch):
    monkeypatch.setattr(rates, "time_arms", lambda arms, *_: dict.fromkeys(arms, (1e-3, 2e-3)))
    results = Results(peak.measure_peak(params, processor(6), cores=6, start=0))
    assert results.arms(names.PEAK) == [names.FLOAT64, names.FLOAT32, names.BFLOAT16]
    for demo, arm, per_ms in (
        (names.PEAK, names.FLOAT32, 2 * 20**3 / 1e6),
        (names.BANDWIDTH, names.COPY, 2 * 2**20 / 1e6),
        (names.VECTOR_RATE, names.ONE_CALL, 2**20 / 1e6),
    ):
        series = results.series(demo, arm)
        assert [(m.x, m.threads) for m in series] == [(1, 1), (2, 2), (4, 4), (6, 6)]
        assert all(m.values == pytest.approx((per_ms, per_ms / 2)) for m in series), arm


@pytest.mark.parametrize(("fast", "rows"), [(True, 20), (False, 5)])
def test_products_in_bfloat16_are_smaller_where_they_would_take_seconds(
    params, monkeypatch, fast, rows
):
    monkeypatch.setattr(peak, "computes_in_bf16", lambda device: fast)
    monkeypatch.setattr(rates, "time_arms", lambda arms, *_: dict.fromkeys(arms, (1.0,)))
    results = Results(peak.measure_peak(params, processor(1), cores=1, start=0))
    for name, n in ((names.FLOAT32, 20), (names.FLOAT64, 20), (names.BFLOAT16, rows)):
        [rate] = results.series(names.PEAK, name)
        assert rate.values == pytest.approx((2 * n**3 / 1e9,))


def test_each_arm_works_with_its_own_threads_whatever_came_before(params, monkeypatch):
    seen = []

    def look(arms, *_):
        for arm in arms.values():
            arm()
            seen.append(torch.get_num_threads())
        return dict.fromkeys(arms, (1.0,))

    monkeypatch.setattr(rates, "time_arms", look)
    peak.measure_peak(params, processor(2), cores=2, start=0)
    assert seen == [1, 1, 1, 2, 2, 2, 1, 2, 1, 2]  # three dtypes, copies, sums


@pytest.mark.parametrize(("cache_mib", "copied"), [(60, 480), (4, 64)])
def test_a_gpus_copies_are_larger_than_its_last_cache(project, monkeypatch, cache_mib, copied):
    """An H200's would hold nearly all of the processor's 64 MiB."""
    gpu = SimpleNamespace(L2_cache_size=cache_mib * 2**20)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: gpu)
    params = lab.core.params.load(Params)
    assert params.bench_hardware.copy_mib == 64
    assert peak.copy_mib(params, torch.device("cuda", 0)) == copied
    assert peak.copy_mib(params, torch.device("cpu")) == 64
