"""Variants that bench_training races, and findings derived from its samples."""

from dataclasses import replace

import pytest

from lab.results.measurements import Results
from stages.bench_training import __main__ as bench_training
from stages.bench_training.measure import names
from stages.bench_training.measure import variants as variants_module
from stages.bench_training.measure.params import TrainingParams
from stages.bench_training.measure.race import Race
from stages.bench_training.measure.variants import Machine, lacking, variants_of
from tests.made_up import measurements

PARAMS = TrainingParams(
    starts=8,
    lenet_batch_size=256,
    lenet_steps=5,
    resnet_batch_size=32,
    resnet_steps=1,
    device_steps=2,
    width=2,
    peers=False,
    compile=False,
)
CPU = Machine("cpu", gpus=0, cores=8, share=4, bf16=True)
PEERS = PARAMS.model_copy(update={"peers": True})


@pytest.fixture(autouse=True)
def without_lightning(monkeypatch):
    monkeypatch.setattr(variants_module, "has_lightning", lambda: False)


@pytest.mark.parametrize(("workers", "ms"), [(0, 90), (4, 100)])
def test_the_engine_is_compared_with_the_baseline_that_the_trial_chose(workers, ms):
    results = Results(measurements("bench_training", "cpu-virtual"), {names.NOTES_WORKERS: workers})
    found = bench_training.findings.findings(results)
    assert found["lenet_fp32_speedup"].value == pytest.approx(ms / 30)


def test_the_trial_chooses_the_faster_setting_by_its_own_samples(monkeypatch):
    raced = []

    def race(variants, starts):
        raced.append((variants, starts))
        return Race({4: (0.5, 0.2), 0: (0.3, 0.3)}, {}, {})

    monkeypatch.setattr(bench_training, "race", race)
    assert bench_training.trial(PARAMS, CPU) == 0
    [(variants, starts)] = raced
    assert starts == bench_training.TRIAL_STARTS
    assert {(variant.kind, n) for n, variant in variants.items()} == {("book", 4), ("book", 0)}


def test_one_gpu_is_not_two_devices():
    one_gpu = Machine("cuda", gpus=1, cores=8, share=4, bf16=True)
    assert not [
        experiment
        for experiment, _ in variants_of(PARAMS, one_gpu, 0)
        if experiment in names.ON_DEVICES
    ]
    skipped = lacking(PARAMS, one_gpu)
    assert {m.experiment for m in skipped if m.variant not in names.PEERS} == set(names.ON_DEVICES)
    two = variants_of(PARAMS, replace(one_gpu, gpus=2), 0)
    assert [str(d) for d in two[names.WIDE, names.LOOP].devices()] == ["cuda:0", "cuda:1"]


def test_a_processor_without_bfloat16_computes_nothing_in_it_and_says_so():
    """A 2048-row matrix multiplication would take a minute there, and a race half an hour."""
    old = replace(CPU, bf16=False)
    for params in (PARAMS, PEERS):
        everywhere, here = variants_of(params, CPU, 0), variants_of(params, old, 0)
        missing = {name for _, name in set(everywhere) - set(here)} - {names.PLAIN_BF16}
        assert missing == {names.BF16, names.ARITHMETIC["bf16"]}
        assert {variant.precision for variant in here.values()} == {"default", "fp32"}
        said = [m for m in lacking(params, old) if m.variant not in names.PEERS]
        assert {m.variant for m in said} == missing
        assert {m.remark for m in said} == {"skipped: needs_bf16"}
