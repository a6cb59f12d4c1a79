"""What bench_hardware derives from its samples."""

from dataclasses import replace

import pytest

from lab.core.files import write_metrics, write_rows
from lab.results.measurements import rows_of
from stages.bench_hardware import section as hardware_section
from tests.made_up import measurements, metrics, one


def test_a_processors_numbers_never_stand_under_a_gpus_name():
    m = metrics("bench_hardware", measurements("bench_hardware", "cuda"), "cuda")
    assert m["peak_float32_1_threads_gflop_per_s"] == pytest.approx(100, rel=1e-2)
    assert m["peak_float32_gpu_gflop_per_s"] == pytest.approx(50_000, rel=1e-2)
    assert m["copy_1_threads_gb_per_s"] == pytest.approx(20, rel=1e-2)
    assert m["copy_gpu_gb_per_s"] == pytest.approx(3000, rel=1e-2)


def test_a_gpus_peak_is_no_step_of_how_the_processor_scales(tmp_path):
    both_cores = replace(one("peak", "float32", 180, "cpu", 2, "GFLOP/s"), threads=2)
    made = [*measurements("bench_hardware", "cuda"), both_cores]
    write_rows(tmp_path, rows_of(made))
    write_metrics(tmp_path, metrics("bench_hardware", made, "cuda"))
    [scaling] = [text for text in hardware_section.section(tmp_path).findings if "scale" in text]
    assert "from 100 GFLOP/s on 1 thread to 180 on 2: 1.80 times" in scaling
