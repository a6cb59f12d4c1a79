"""How the project's code uses GPUs: waits, first calls, copies, memory."""

import itertools
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import simulated_cuda
import torch
from torch.cuda import nccl

from lab.core.params import load
from lab.core.shared_params import BenchParams, DeviceParams
from lab.machine.devices import resolve
from lab.nets.models import LeNet, UInt8Input
from lab.optim.update_rules import RULES
from lab.parallel.flat_bucket import FlatBuckets
from lab.parallel.replicas import replicate, sum_gradients, train_batch
from lab.parallel.workers import thread_pool
from lab.timing import bench
from lab.timing.bench import size_past_launch_bound
from lab.training.loop import train
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer
from stages.bench_async.measure import timing_mistakes
from stages.bench_async.measure.params import Params as AsyncParams
from stages.together.measure import one_run
from stages.together.measure.params import Params as TogetherParams
from stages.together.measure.recipes import RecipeRun, recipes
from tests.helpers import recipe, write_data

AUTO = {"cpu_threads": "auto"}


def notes_of(kind, function):
    return [
        what
        for found, what, stack in simulated_cuda.notes
        if found == kind and any(line.endswith(f" {function}") for line in stack)
    ]


def test_no_kernel_or_context_is_set_up_inside_a_measured_time(project):
    """The first of numpy's and torch's seven products would pay for kernels and contexts."""
    params = load(AsyncParams)
    simulated_cuda.forget_first_calls()
    timing_mistakes.measure_timing_mistakes(params, resolve(1, params.devices), 0)
    assert notes_of("first", "measure_timing_mistakes"), "it calls kernels that nobody has called"
    assert notes_of("context", "measure_timing_mistakes"), "and sets both GPUs up"
    assert notes_of("first", "call_times") == notes_of("context", "call_times") == []


def test_on_a_machine_with_gpus_numpy_has_all_cores(project, monkeypatch):
    """Not one virtual device's share of them."""
    seen = []

    class Blas:
        def select(self, user_api):
            return self

        @contextmanager
        def limit(self, limits):
            seen.append(limits)
            yield

    monkeypatch.setattr(timing_mistakes, "ThreadpoolController", Blas)
    monkeypatch.setattr(timing_mistakes, "usable_cores", lambda: 6)
    params = load(AsyncParams)
    timing_mistakes.measure_timing_mistakes(params, resolve(1, params.devices), 0)
    assert set(seen) == {6}


@pytest.fixture
def data(project: Path) -> Path:
    write_data(project / "data", train=600, test=100)
    return project


def waits_of(call) -> int:
    before = simulated_cuda.host_waits()
    call()
    return simulated_cuda.host_waits() - before


def test_a_recipe_that_is_timed_in_part_runs_ahead(data, monkeypatch):
    """As recipes that are trained whole do: no step waits for the previous one."""
    waits, take = [], Trainer.take

    def counting(*args):
        waits.append(waits_of(lambda: take(*args)))

    monkeypatch.setattr(Trainer, "take", counting)
    params = load(TogetherParams)
    one_run.train_recipe(recipes(True)[-1], 0, RecipeRun(0, 1, in_part=True), params)
    assert set(waits) == {0}


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"num_gpus": 2},
        {"num_gpus": 2, "strategy": "dataparallel"},
        {"num_gpus": 2, "optimizer": "nesterov", "precision": "bf16"},
        *({"optimizer": name} for name in RULES if name != "sgd"),
        {"num_gpus": 2, "shards": 8},
        {"strategy": "graph"},
    ],
    ids=lambda how: " ".join(map(str, how.values())) or "one",
)
def test_no_step_waits_for_a_gpu(how):
    devices = [torch.device("cuda", i) for i in range(how.get("num_gpus", 1))]
    images = torch.randint(256, (64, 28, 28), dtype=torch.uint8)
    train_set = (images, torch.randint(10, (64,)))
    model, step = model_and_step(LeNet(torch.Generator()), devices, recipe(batch_size=16, **how))
    trainer = Trainer(model, step, train_set)

    def steps(count: int) -> None:
        rows = torch.arange(16, device=devices[0])
        losses = torch.zeros(count, device=devices[0])
        trainer.take([rows] * count, [0.1] * count, losses)

    steps(1)  # records a graph
    assert waits_of(lambda: steps(2)) == waits_of(lambda: steps(6)) == 0


def test_how_often_an_epoch_waits_does_not_depend_on_its_steps():
    waits = []
    for steps in (2, 6):
        images = torch.zeros(16 * steps, 28, 28, dtype=torch.uint8)
        train_set = (images, torch.zeros(len(images), dtype=torch.int64))
        net = LeNet(torch.Generator())
        one = recipe(batch_size=16, num_epochs=1)
        model, step = model_and_step(net, [torch.device("cuda", 0)], one)
        trainer = Trainer(model, step, train_set)
        test_set = (images[:10], train_set[1][:10])
        waits.append(waits_of(partial(list, train(trainer, test_set, 0))))
    assert waits[0] == waits[1] > 0


@pytest.mark.parametrize(("in_buckets", "tensors"), [(False, 8), (True, 1)])
def test_a_step_copies_only_to_and_from_the_first_gpu(monkeypatch, in_buckets, tensors):
    """Without NCCL: images and labels there, gradients there and back."""
    monkeypatch.setattr(nccl, "is_available", lambda tensors: False)
    count = torch.cuda.device_count()
    gpus = [torch.device("cuda", i) for i in range(count)]
    nets = [replicate(UInt8Input(LeNet(torch.Generator())), gpu) for gpu in gpus]
    X = torch.zeros(19, 28, 28, dtype=torch.uint8, device=gpus[0])
    y = torch.zeros(19, dtype=torch.int64, device=gpus[0])
    combine = FlatBuckets(nets).sum_gradients if in_buckets else partial(sum_gradients, nets)
    pairs = list(itertools.permutations(range(count), 2))
    before = {pair: simulated_cuda.copies(*pair) for pair in pairs}
    with thread_pool(count, 1) as pool:
        train_batch(X, y, nets, gpus, 0.1, pool, combine)
    copied = {pair: simulated_cuda.copies(*pair) - before[pair] for pair in pairs}
    for source, target in pairs:
        expected = 2 + tensors if source == 0 else tensors if target == 0 else 0
        assert copied[source, target] == expected


def test_work_that_never_outlasts_its_launch_leaves_memory_to_others(monkeypatch):
    """Otherwise its size would be doubled until the GPU is full."""
    gpu = resolve(1, DeviceParams(**AUTO))
    params = BenchParams(starts=1, rounds=1, min_sample_ms=1e-3)

    def memory_alone(rows: int):
        return torch.empty(rows, rows, device=gpu.devices[0]).clone

    def as_long_as_its_launch(variant_of, size, *_):
        variant_of(size)
        return (1.0,)

    monkeypatch.setattr(bench, "over_launch", as_long_as_its_launch)
    size = size_past_launch_bound(memory_alone, 1024, gpu, params)
    total = torch.cuda.get_device_properties(gpu.devices[0]).total_memory
    assert bench.MEMORY_SHARE * total / 16 < 4 * size**2 <= bench.MEMORY_SHARE * total
