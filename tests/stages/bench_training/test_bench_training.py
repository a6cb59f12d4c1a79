"""What bench_training races, and what it derives from the samples."""

from dataclasses import replace

import pytest
import torch

from lab.machine.devices import Devices
from lab.results.measurements import Results
from stages.bench_training import __main__ as bench_training
from stages.bench_training import comparisons, names
from stages.bench_training.arms import PRODUCT_ROWS, arms_of, products_per_step
from stages.bench_training.params import Params, TrainingParams
from tests.made_up import measurements, metrics

PARAMS = TrainingParams(
    rounds=8,
    heats=2,
    lenet_batch_size=256,
    lenet_steps=5,
    resnet_batch_size=32,
    resnet_steps=1,
    compile=True,
)


def test_the_engine_is_held_against_the_notes_faster_way_and_the_peak_of_the_same_round():
    made = measurements("bench_training", "cpu-virtual")
    m = metrics("bench_training", made, "cpu-virtual")
    assert (m["lenet_fp32_speedup"], m["lenet_2workers_speedup"]) == (3.0, 1.5)
    assert m["resnet18_fp32_speedup"] == 1.125
    assert m["lenet_fp32_of_peak"] == pytest.approx(1.6 * 10 / 30, abs=1e-4)
    assert m["resnet18_fp32_of_peak"] == pytest.approx(41 * 10 / 800, abs=1e-4)
    results = Results(made)
    assert comparisons.faster_by_the_notes(results, names.LENET).arm == names.NO_WORKERS
    bf16 = comparisons.gain(results, names.LENET, names.BF16, over=names.ENGINE)
    assert bf16 is not None
    assert bf16.median == pytest.approx(1.5)
    assert comparisons.gain(results, names.LENET, names.TF32, over=names.ENGINE) is None


def test_one_gpu_has_no_speedup_of_workers(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    arms = arms_of(PARAMS, "cuda", cores=8, share=4, compiled=False)[names.LENET]
    assert names.TWO_WORKERS not in arms
    made = [m for m in measurements("bench_training", "cuda") if m.arm in (*arms, names.PRODUCT)]
    m = metrics("bench_training", made, "cuda")
    assert not [name for name in m if name.startswith(names.TWO_WORKERS_SPEEDUP)]


def test_a_step_is_worth_products_by_its_flop():
    """LeNet's 13.26 and ResNet-18's 2,734 MFLOP for an image, by hand in tests/lab/nets."""
    assert products_per_step(names.LENET, 256, 1024) == pytest.approx(
        13.26e6 * 256 / 2**31, rel=1e-3
    )
    assert products_per_step(names.RESNET18, 32, 64) == pytest.approx(
        2.734e9 * 32 / 2**19, rel=1e-3
    )


def test_workers_of_a_race_have_equal_threads_and_arms_of_one_process_all_cores():
    races = arms_of(PARAMS, "cpu", cores=8, share=4, compiled=True)
    lenet = races[names.LENET]
    workers = [lenet[names.ONE_WORKER], lenet[names.TWO_WORKERS]]
    assert [(arm.kind, arm.threads, arm.num_devices) for arm in workers] == [
        ("ddp", 4, 1),
        ("ddp", 4, 2),
    ]
    alone = [arm for arms in races.values() for arm in arms.values() if arm.kind != "ddp"]
    assert {arm.threads for arm in alone} == {8}
    assert {name for name, arm in lenet.items() if arm.precision == "bf16"} == {names.BF16}
    assert {name for name, arm in lenet.items() if arm.compile_mode != "none"} == {names.COMPILED}
    assert {name: arm.num_workers for name, arm in lenet.items() if arm.kind == "book"} == {
        names.FOUR_WORKERS: 4,
        names.NO_WORKERS: 0,
    }
    on_gpu = arms_of(PARAMS, "cuda", cores=8, share=4, compiled=False)[names.RESNET18]
    assert on_gpu[names.TF32].precision == "tf32"
    assert names.COMPILED not in on_gpu


def test_rows_say_the_threads_of_their_arm_and_the_products_worth_a_step(monkeypatch):
    raced = []

    def race(arms, rounds, starts):
        raced.append((rounds, starts))
        return dict.fromkeys(arms, (0.002,) * rounds)

    monkeypatch.setattr(bench_training, "race", race)
    monkeypatch.setattr(bench_training, "missing_compiler", lambda: "a compiler")
    monkeypatch.setattr(bench_training, "noise_control", lambda arm, devices, params: [])
    params = Params.model_construct(bench_training=PARAMS, bench=None)
    devices = Devices("cpu", [torch.device("cpu")], 8)
    results = Results(bench_training.measure(params, devices, cores=8, share=4))
    assert raced == [(8, 2)] * 2
    engine = results.one(names.LENET, names.ENGINE)
    worker = results.one(names.LENET, names.TWO_WORKERS)
    product = results.one(names.LENET, names.PRODUCT)
    assert engine is not None
    assert engine.values == (2.0,) * 8
    assert worker == replace(engine, arm=names.TWO_WORKERS, threads=4)
    assert product is not None
    assert product.x == products_per_step(names.LENET, 256, PRODUCT_ROWS["cpu"])
    assert [m.demo for m in results.skipped()] == list(names.NETS)
