"""What bench_training derives from its samples."""

import pytest

from stages.bench_training import __main__ as bench_training
from stages.bench_training.params import TrainingParams
from tests.made_up import measurements, metrics


def test_the_engine_is_held_against_the_notes_faster_way_and_the_peak_of_the_same_round():
    m = metrics("bench_training", measurements("bench_training", "cpu-virtual"), "cpu-virtual")
    assert m["lenet_notes_faster_way"] == bench_training.NO_WORKERS
    assert (m["lenet_fp32_speedup"], m["lenet_bf16_speedup"], m["lenet_2workers_speedup"]) == (
        3.0,
        4.5,
        1.5,
    )
    assert (m["resnet18_fp32_speedup"], m["resnet18_bf16_speedup"]) == (1.125, 2.0)
    peak = 2 * 1024**3 / 10e-3
    assert m["lenet_fp32_of_peak"] == pytest.approx(13.26e6 * 256 / 30e-3 / peak, rel=1e-3)
    assert m["resnet18_fp32_of_peak"] == pytest.approx(2.734e9 * 32 / 800e-3 / peak, rel=1e-3)
    assert m["lenet_engine_epoch_s"] == pytest.approx(235 * 0.030, rel=1e-3)


def test_workers_of_a_race_have_equal_threads_and_ways_of_one_process_all_cores():
    params = TrainingParams(
        rounds=8,
        heats=1,
        lenet_batch_size=256,
        lenet_steps=5,
        resnet_batch_size=32,
        resnet_steps=1,
        compile=True,
    )
    races = bench_training.contestants(params, "cpu", cores=8, share=4, compiled=True)
    lenet = races["lenet"]
    assert (lenet[bench_training.ONE].threads, lenet[bench_training.TWO].threads) == (4, 4)
    assert (lenet[bench_training.ONE].num_devices, lenet[bench_training.TWO].num_devices) == (1, 2)
    alone = [way for ways in races.values() for way in ways.values() if way.kind != "ddp"]
    assert {way.threads for way in alone} == {8}
    assert {name for name, way in lenet.items() if way.precision == "bf16"} == {bench_training.BF16}
    assert {name for name, way in lenet.items() if way.compile_mode != "none"} == {
        bench_training.COMPILED
    }
    on_gpu = bench_training.contestants(params, "cuda", cores=8, share=4, compiled=False)[
        "resnet18"
    ]
    assert on_gpu[bench_training.TF32].precision == "tf32"
    assert bench_training.COMPILED not in on_gpu
