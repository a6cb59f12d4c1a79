"""Measurements of bench_parallel on two virtual devices, and findings from its samples."""

import threading

import pytest
import torch

from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, Results
from lab.timing.runner import merge
from stages.bench_parallel import __main__ as bench_parallel
from stages.bench_parallel import findings as derivation
from stages.bench_parallel.measure import two_devices
from stages.bench_parallel.measure.dependencies import CHAINS, STEPS, factors, grow
from stages.bench_parallel.measure.params import ParallelParams, Params
from tests.made_up import measurements

PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    bench=BenchParams(starts=2, rounds=2, min_sample_ms=1e-3),
    bench_parallel=ParallelParams(sizes=[4, 8]),
)
CPUS = [torch.device("cpu")] * 2


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "device_count", lambda: 0)
        return merge([bench_parallel.measure(process, PARAMS) for process in range(2)])


def test_every_variant_has_a_sample_for_each_process_and_gives_the_findings(measured):
    results, made = Results(measured), Results(measurements("bench_parallel", "cpu-virtual"))
    for experiment in ("products", "warm-up", "dependencies"):
        assert set(results.variants(experiment)) == set(made.variants(experiment)), experiment
    for variant in results.variants("products"):
        found = [(m.x, len(m.values)) for m in results.series("products", variant)]
        assert found == [(4, 2), (8, 2)], variant
    skipped = {(m.experiment, m.variant) for m in results.skipped()}
    assert skipped == {(m.experiment, m.variant) for m in made.skipped()}
    there, made_there = (
        {name for name, finding in derivation.findings(each).items() if finding}
        for each in (results, made)
    )
    assert there == made_there - {"products_of_a_run"}, "which main counts"


def test_together_runs_two_jobs_concurrently():
    both_begun, threads = threading.Barrier(2, timeout=30), set()

    def job() -> None:
        both_begun.wait()
        threads.add(threading.get_ident())

    with two_devices.thread_pool(1, 1) as pool:
        two_devices.together([job, job], CPUS, pool)
    assert len(threads) == 2
    assert threading.get_ident() in threads


def test_each_chain_is_a_power_of_the_matrix_and_all_do_the_same_work():
    matrices = factors(16, Devices("cpu-virtual", CPUS, threads=1), seed=0)
    with two_devices.thread_pool(1, 1) as first, two_devices.thread_pool(1, 1) as second:
        for name, chains in CHAINS.items():
            ends = grow(matrices, [first, second], chains)
            assert sum(map(len, chains)) == 2 * STEPS, name
            power = 1 + 2 * STEPS // len(chains)
            expected = torch.linalg.matrix_power(matrices[0].double(), power)
            for end in ends:
                torch.testing.assert_close(end.double(), expected, rtol=1e-3, atol=1e-6)
