"""What bench_overlap measures on this machine's CPU, and derives from its samples."""

import pytest
import torch

from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import Devices
from lab.results.measurements import Measurement, Results
from stages.bench_overlap import __main__ as bench_overlap
from stages.bench_overlap import names, section
from stages.bench_overlap.params import OverlapParams, Params
from tests.made_up import measurements, metrics, write

PARAMS = Params(
    seed=0,
    devices=DeviceParams(cpu_threads=1),
    bench=BenchParams(rounds=8, aa_runs=1, min_sample_ms=1e-3),
    bench_overlap=OverlapParams(size=16, num_results=4),
)


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    one = Devices("cpu-virtual", [torch.device("cpu")], threads=1)
    return bench_overlap.measure(PARAMS, one)


def test_every_arm_of_a_cpu_is_timed_with_its_fraction_and_bandwidth(measured):
    results = Results(measured)
    assert set(results.arms(names.TIMES)) == {
        names.COMPUTE,
        names.COPIES,
        names.IN_TURN,
        names.BESIDE,
    }
    assert set(results.arms(names.OVERLAP)) == {names.IN_TURN, names.BESIDE}
    [copies], [rate] = (results.series(d, names.COPIES) for d in (names.TIMES, names.BANDWIDTH))
    gigabytes = 4 * copies.x * 4 / 1e9  # 4 results of float32
    assert rate.values == pytest.approx([gigabytes / (t / 1e3) for t in copies.values])
    assert {m.arm for m in results.skipped()} == set(names.ONLY_CUDA)
    spans = [m.arm.split()[1] for m in measured if m.demo == names.TIMELINE + names.BESIDE]
    assert sorted(spans) == [names.COMPUTING] * 4 + [names.COPYING] * 4
    made = bench_overlap.summarise(measurements("bench_overlap", "cuda"))
    assert set(bench_overlap.summarise(measured)) == set(made)


def test_the_best_arm_is_held_against_its_own_parts():
    for kind, best in (("cuda", names.TWO_STREAMS), ("cpu-virtual", names.BESIDE)):
        m = metrics("bench_overlap", measurements("bench_overlap", kind), kind)
        assert m[names.BEST_ARM] == best
        assert m[names.OVERLAP_FRACTION] == pytest.approx((40 + 40 - 44) / 40), kind
        assert m[names.SPEEDUP] == pytest.approx((40 + 40) / 44, rel=1e-4), kind


def test_the_page_marks_the_books_comparison_wrong_and_no_other(tmp_path):
    write("bench_overlap", tmp_path, "cuda")
    part = section.section(tmp_path / "bench_overlap")
    fractions, beside = part.tables
    wrong = [row[0] for row in fractions.rows if str(row[-1]).startswith("wrong: ")]
    assert wrong == [names.AS_THE_BOOK]
    assert (
        "takes 44.0 ms where the parts take 80.0 ms together and the longer one 40.0 ms"
        in (part.findings[0])
    )
    assert [row[2] for row in beside.rows] == ["0.0400 s", "0.1999 s (10.0 GB/s)", "0.0440 s"]
