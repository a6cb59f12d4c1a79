"""Measurements of bench_hardware, and findings derived from its samples."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lab.core.params
from lab.machine.devices import processor
from lab.results.findings import Finding, Over
from lab.results.measurements import Results
from lab.results.reasons import Reason
from stages.bench_hardware.__main__ import measure
from stages.bench_hardware.measure import arithmetic, memory, roofline
from stages.bench_hardware.measure.arithmetic import WAYS, add_in_a_loop
from stages.bench_hardware.measure.memory import CACHE_LINE, chain_of, compile_chase
from stages.bench_hardware.measure.params import Params
from stages.bench_hardware.page.figures import near_ridge, networks_of
from tests.helpers import edit_params
from tests.made_up import findings, measurements


def test_the_roof_is_the_best_rate_of_the_device_that_ran_the_networks():
    for kind, peak, copy in (("cuda", 50_000, 3000), ("cpu-virtual", 1000, 1000)):
        made = measurements("bench_hardware", kind)
        found = findings("bench_hardware", made, kind)
        assert found["peak_float32_gflop_per_s"].value == pytest.approx(peak, rel=1e-2)
        assert found["copy_gb_per_s"].value == pytest.approx(copy, rel=1e-2)
        ran_on = {Results(made).one("network", "LeNet").device_kind}
        assert found["ridge"].device_kinds == ran_on


def test_networks_are_compared_with_the_roof_of_the_device_that_ran_them():
    for kind, allowed in (("cuda", [3000, 9000, 27_000, 50_000]), ("cpu-virtual", [1000] * 4)):
        made = measurements("bench_hardware", kind)
        networks = networks_of(Results(made), findings("bench_hardware", made, kind))
        assert [n.intensity for n in networks] == [1, 3, 9, 27]
        assert [n.share.value for n in networks] == pytest.approx(
            [50 / most for most in allowed], rel=1e-2
        )


def test_one_core_has_nothing_to_spread_sums_over():
    made = measurements("bench_hardware", "cpu-virtual")
    assert findings("bench_hardware", made, "cpu-virtual")["all_cores"].value == pytest.approx(6)
    on_one = [m for m in made if m.experiment != "vector rate" or m.threads == 1]
    found = findings("bench_hardware", on_one, "cpu-virtual")["all_cores"]
    assert found.missing == Reason("needs_cores", "2")


@pytest.mark.parametrize(
    ("intensities", "counts"),
    [([8, 20], (0, 2)), ([1, 4], (2, 0)), ([1, 20], (1, 1)), ([6, 20], (0, 1)), ([1, 6], (1, 0))],
)
def test_networks_within_the_ridges_interval_are_on_neither_side(intensities, counts):
    assert near_ridge(intensities, Finding(6, 5, 7, 8, Over.STARTS)) == counts


def test_a_process_measures_what_the_page_and_the_claims_read(project, monkeypatch):
    """Other tests run both on the made-up results."""
    edit_params({"bench_hardware.largest_working_set_mib": 1, "bench_hardware.matrix_size": 16})
    for module in (memory, arithmetic, roofline):
        monkeypatch.setattr(module, "time_variants", lambda v, *_, **__: dict.fromkeys(v, (1.0,)))
    params = lab.core.params.load(Params)
    costs = roofline.costs_of(params, roofline.network_device(params))
    measured = {(m.experiment, m.variant, m.unit) for m in measure(0, params, costs)}
    made = {(m.experiment, m.variant, m.unit) for m in measurements("bench_hardware", "cpu")}
    assert {kind for kind in made if kind[0] not in ("control", "counted GFLOP")} <= measured


def test_a_loop_adds_what_one_call_adds():
    a, b = torch.rand(2, 50)
    z = [0.0] * 50
    add_in_a_loop(a.tolist(), b.tolist(), z)
    torch.testing.assert_close(torch.tensor(z), a + b)


def test_every_variant_computes_the_product():
    for shape in ((3, 4, 5), (7, 9, 130), (1, 1, 1)):
        rows, inner, columns = shape
        A, B = torch.rand(rows, inner), torch.rand(inner, columns)
        for way, product in WAYS.items():
            torch.testing.assert_close(
                product(A, B), A @ B, msg=lambda m, case=(way, shape): f"{case}: {m}"
            )


@pytest.fixture
def params(project):
    edit_params({"bench_hardware.matrix_size": 20, "bench_hardware.copy_mib": 1})
    before = torch.get_num_threads()
    yield lab.core.params.load(Params)
    torch.set_num_threads(before)


def test_rates_are_amounts_over_seconds_for_each_number_of_threads(params, monkeypatch):
    monkeypatch.setattr(
        roofline, "time_variants", lambda variants, *_: dict.fromkeys(variants, (1e-3, 2e-3))
    )
    results = Results(roofline.measure_roof(params, processor(6), cores=6, process=0))
    assert results.variants("peak") == ["float64", "float32", "bfloat16", "float32 convolution"]
    for experiment, variant, per_ms in (
        ("peak", "float32", 2 * 20**3 / 1e6),
        ("bandwidth", "copy", 2 * 2**20 / 1e6),
        ("vector rate", "one call", 2**20 / 1e6),
    ):
        series = results.series(experiment, variant)
        assert [(m.x, m.threads) for m in series] == [(1, 1), (2, 2), (4, 4), (6, 6)]
        assert all(m.values == pytest.approx((per_ms, per_ms / 2)) for m in series), variant


@pytest.mark.parametrize(("fast", "rows"), [(True, 20), (False, 5)])
def test_bfloat16_matrices_are_smaller_where_they_would_take_seconds(
    params, monkeypatch, fast, rows
):
    monkeypatch.setattr(roofline, "computes_in_bf16", lambda device: fast)
    monkeypatch.setattr(
        roofline, "time_variants", lambda variants, *_: dict.fromkeys(variants, (1.0,))
    )
    results = Results(roofline.measure_roof(params, processor(1), cores=1, process=0))
    for name, n in (("float32", 20), ("float64", 20), ("bfloat16", rows)):
        [rate] = results.series("peak", name)
        assert rate.values == pytest.approx((2 * n**3 / 1e9,))


def test_each_variant_sets_its_own_number_of_threads(params, monkeypatch):
    seen = []

    def look(variants, *_):
        for variant in variants.values():
            variant()
            seen.append(torch.get_num_threads())
        return dict.fromkeys(variants, (1.0,))

    monkeypatch.setattr(roofline, "time_variants", look)
    roofline.measure_roof(params, processor(2), cores=2, process=0)
    assert seen == [1, 1, 1, 2, 2, 2, 1, 2, 1, 2, 1, 2]  # three dtypes, convolutions, copies, sums


@pytest.mark.parametrize(("cache_mib", "copied"), [(60, 480), (4, 64)])
def test_a_gpu_copies_more_than_its_last_cache_holds(project, monkeypatch, cache_mib, copied):
    """An H200's cache would hold nearly all of the CPU's 64 MiB."""
    gpu = SimpleNamespace(L2_cache_size=cache_mib * 2**20)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: gpu)
    params = lab.core.params.load(Params)
    assert params.bench_hardware.copy_mib == 64
    assert roofline.copy_mib(params, torch.device("cuda", 0)) == copied
    assert roofline.copy_mib(params, torch.device("cpu")) == 64


@given(st.integers(1, 200), st.integers(0, 100))
def test_a_chain_visits_every_cache_line_once_and_returns(lines, seed):
    chain = chain_of(lines * CACHE_LINE, seed)
    lines = max(2, lines)
    visited, i = [], 0
    for _ in range(lines):
        visited.append(i * 4 // CACHE_LINE)
        i = int(chain[i])
    assert sorted(visited) == list(range(lines))
    assert i == 0
    assert chain.nbytes == lines * CACHE_LINE


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_compiled_chase_follows_the_chain(tmp_path):
    chase, chain = compile_chase(tmp_path), chain_of(1 << 14, seed=3)
    i = 0
    for steps in range(1, 50):
        i = int(chain[i])
        assert chase(chain, 0, steps) == i


def test_both_orders_give_the_same_sum():
    matrix = np.random.default_rng(0).random((30, 40), dtype=np.float32)
    assert memory.sum_by_rows(matrix) == pytest.approx(matrix.sum(), rel=1e-5)
    assert memory.sum_by_columns(matrix) == pytest.approx(matrix.sum(), rel=1e-5)
