"""The stage `train`: what it reads, derives and writes, and how it ends."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from lab.core import process
from lab.core.files import write_json
from lab.core.params import load, read_yaml
from lab.data.datasets import DATA, SOURCE_FILE
from lab.machine.devices import Devices
from lab.nets.models import LeNet
from lab.results.documents import read_conditions
from lab.results.findings import Finding, Over, missing
from lab.results.measurements import Measurement, Results, measurements_of
from lab.results.reasons import GUESSES, Reason
from lab.training.loop import Epoch
from lab.training.run_params import TrainParams
from stages.probe.__main__ import params_models
from stages.train.__main__ import main
from stages.train.findings import findings
from stages.train.measure import one_run
from stages.train.measure import results as train
from stages.train.measure.params import Params
from stages.train.page.figures import BOOK_ACCURACY, TrainingRun, pairs_of
from tests import forked
from tests.helpers import (
    ROOT,
    edit_params,
    errors,
    files,
    hardware,
    recipe,
    run_stage,
    small_run,
    write_data,
)
from tests.stages.train.made_up import SPEED

CPU = Devices("cpu-virtual", [torch.device("cpu")], threads=1)
HALVES = replace(CPU, devices=CPU.devices * 2)


EPOCHS = [Epoch(1, 2.3, 0.1, 4.0), Epoch(2, 1.6, 0.6, 2.0), Epoch(3, 0.7, 0.75, 2.5)]


SETTINGS = recipe(batch_size=32, train_images=2000, num_epochs=3)


def found(
    epochs: list[Epoch], devices: Devices = CPU, test_images: int = 10_000, **settings: Any
) -> dict[str, float]:
    rows = train.rows_of(epochs, 0, devices, "synthetic")
    conditions = train.conditions_of(
        SETTINGS.but(test_images=test_images, **settings), devices, "synthetic", b"weights"
    )
    numbers = findings(Results(measurements_of(rows), conditions))
    there = {name: each for name, each in numbers.items() if each}
    assert not any(each.decides for each in there.values()), "one run is one seed and one start"
    return {name: each.value for name, each in there.items()}


def test_a_runs_findings_are_of_its_last_epoch_and_its_median_time():
    assert found(EPOCHS) == {"test_accuracy_percent": 75.0, "train_loss": 0.7, "epoch_s": 2.5}
    conditions = train.conditions_of(SETTINGS, HALVES, "fashion-mnist", b"weights")
    assert (conditions["num_devices"], conditions["device_kind"], conditions["dataset"]) == (
        2,
        "cpu-virtual",
        "fashion-mnist",
    )


def test_an_accuracy_of_guesses_is_no_result():
    """Within three standard errors of chance, or after a handful of steps."""
    guesses = [*EPOCHS[:2], Epoch(3, 2.3, 0.118, 2.5)]
    assert "test_accuracy_percent" in found(guesses), "of 10,000 images"
    assert "test_accuracy_percent" not in found(guesses, test_images=1000)
    assert found(EPOCHS, train_images=512) == {"train_loss": 0.7, "epoch_s": 2.5}, "48 steps"


def test_the_findings_of_several_seeds_are_medians_that_decide():
    rows = [
        row
        for seed in range(8)
        for row in train.rows_of(
            [replace(e, test_accuracy=e.test_accuracy + seed / 100) for e in EPOCHS],
            seed,
            CPU,
            "synthetic",
        )
    ]
    conditions = train.conditions_of(SETTINGS.but(seeds=8), CPU, "synthetic", b"")
    percent = findings(Results(measurements_of(rows), conditions))["test_accuracy_percent"]
    assert (percent.value, percent.low, percent.high) == pytest.approx((78.5, 75, 82))
    assert (percent.n, percent.decides) == (8, True)


def test_a_run_on_virtual_devices_has_no_time():
    assert "epoch_s" not in found(EPOCHS, HALVES), "it would pass for the speed-up of two GPUs"
    assert "epoch_s" in found(EPOCHS, replace(HALVES, kind="cuda"))


def test_a_run_is_compared_with_the_books_over_the_epochs_that_both_have():
    apart = (0.0, 3.0, -5.0)  # in points; a run that ends earlier has no later ones
    accuracies = [(book + points) / 100 for book, points in zip(BOOK_ACCURACY, apart, strict=False)]
    rows = [Measurement("epochs", "test_accuracy", i, (a,)) for i, a in enumerate(accuracies)]
    run = TrainingRun("lenet_1gpu", Results(rows), {})
    assert run.points_from_the_book == pytest.approx(5)


def test_runs_that_still_guess_are_no_pair():
    learns = Finding(75.0, 75.0, 75.0, 1, Over.SEEDS, "%", "more")

    def run(devices: Devices, percent: Finding) -> TrainingRun:
        conditions = train.conditions_of(SETTINGS, devices, "synthetic", b"")
        return TrainingRun("run", Results([], conditions), {"test_accuracy_percent": percent})

    assert len(pairs_of([run(CPU, learns), run(HALVES, learns)])) == 1
    assert pairs_of([run(CPU, learns), run(HALVES, missing(Reason(GUESSES), "%"))]) == []


def test_an_interrupted_epoch_is_marked_and_not_timed():
    epochs = [*EPOCHS, Epoch(4, 0.6, 0.8, 99.0, resumed=True)]
    assert (found(epochs)["epoch_s"], found(epochs)["train_loss"]) == (2.5, 0.6)
    assert [row["resumed"] for row in train.rows_of(epochs, 0, CPU, "synthetic")] == [0, 0, 0, 1]


def test_one_or_two_epochs_give_no_time():
    """Something else may have run at the same time."""
    for few in (EPOCHS[:1], EPOCHS[:2], [*EPOCHS[:2], replace(EPOCHS[2], resumed=True)]):
        assert "epoch_s" not in found(few)


def test_equal_weights_are_saved_as_equal_bytes_and_load_safely(tmp_path):
    weights = LeNet(torch.Generator().manual_seed(0)).state_dict()
    assert train.to_bytes(weights) == train.to_bytes(
        {name: w.clone() for name, w in weights.items()}
    )
    (tmp_path / "w.pt").write_bytes(train.to_bytes(weights))
    loaded = torch.load(tmp_path / "w.pt", weights_only=True)
    assert list(loaded) == ["W1", "b1", "W2", "b2", "W3", "b3", "W4", "b4"]
    assert all(torch.equal(loaded[name], w) for name, w in weights.items())


def test_ranks_of_torchrun_train_only_by_ddp(project, monkeypatch, capsys):
    """By a different strategy, each rank would train the whole run."""
    monkeypatch.setattr(sys, "argv", ["stages.train", "lenet_2gpu"])
    place = {"TORCHELASTIC_RUN_ID": "a", "RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0"}
    for variable, value in place.items():
        monkeypatch.setenv(variable, value)
    assert process.run(main) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "train.runs.lenet_2gpu.strategy: expected ddp" in line


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["replicas", "ddp"])
def test_rank_variables_of_a_cluster_do_not_affect_a_run(project, strategy):
    """Kubeflow sets RANK and WORLD_SIZE in each container, which has nothing to do with a run."""
    write_data(project / "data", train=64, test=16)
    small = small_run(train_images=64, test_images=16, batch_size=32, strategy=strategy)
    edit_params({"train.runs": {"one": small}})

    def weights(**environment: str) -> bytes:
        result = run_stage("stages.train", "one", **environment)
        assert result.returncode == 0, result.stderr
        assert not list(Path(".lab/checkpoints").glob("*/*.pt"))
        return (project / "models" / "one.pt").read_bytes()

    alone = weights()
    assert weights(RANK="0", WORLD_SIZE="1") == alone
    assert weights(RANK="3", WORLD_SIZE="8", LOCAL_RANK="3", LOCAL_WORLD_SIZE="8") == alone


@pytest.mark.slow
def test_a_run_of_several_seeds_keeps_the_weights_of_the_first(project, monkeypatch):
    write_data(project / "data", train=64, test=16)
    small = small_run(train_images=64, test_images=16, batch_size=32)
    edit_params({"train.runs": {"one": small, "three": small | {"seeds": 3}}})
    for name in ("one", "three"):
        monkeypatch.setattr(sys, "argv", ["stages.train", name])
        assert process.run(main) == 0
    one, three = (Path(f"models/{name}.pt").read_bytes() for name in ("one", "three"))
    assert three == one


@pytest.mark.slow
def test_train_repeats_bit_for_bit_in_a_new_process_and_on_two_devices_to_rounding(
    project, monkeypatch
):
    write_data(project / "data", train=650, test=120)  # more than the params ask for
    edit_params({"train.runs": {"one": small_run(), "two": small_run(num_gpus=2)}})

    def results(name: str, new_process: bool) -> tuple[bytes, list[str]]:
        if new_process:
            result = run_stage("stages.train", name)
            assert result.returncode == 0, result.stderr
        else:
            monkeypatch.setattr(sys, "argv", ["stages.train", name])
            assert process.run(main) == 0
        rows = (project / "reports" / "train" / name / "rows.csv").read_text().splitlines()
        return (project / "models" / f"{name}.pt").read_bytes(), [
            ",".join(row.split(",")[:3]) for row in rows
        ]

    assert results("one", new_process=True) == results("one", new_process=False)
    assert results("two", new_process=False) == results("two", new_process=False)
    one, two = (torch.load(f"models/{name}.pt", weights_only=True) for name in ("one", "two"))
    for name in one:
        torch.testing.assert_close(one[name], two[name])
    metrics = read_conditions(Path("reports/train/two"))
    assert metrics["num_devices"] == 2
    assert (metrics["train_images"], metrics["strategy"]) == (600, "replicas")
    assert all(metrics[name] > 0 for name in SPEED), "the machine's own speed, before and after"
    assert not list(Path(".lab/checkpoints").glob("*/")), (
        "a run that has its results keeps no checkpoint"
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"optimizer": "adm"}, "one of sgd, momentum"),
        ({"strategy": "graph", "num_gpus": 2}, "num_gpus 1, schedule constant"),
        ({"compile": "reduce-overhead", "num_gpus": 2}, "strategy ddp for compile"),
        ({"shards": 3}, "shards to be none or a power of two such as 8, got 3"),
    ],
)
def test_a_recipe_that_nothing_can_train_is_refused(changes, complaint):
    with pytest.raises(ValidationError, match=complaint):
        recipe(**changes)


MISTAKES: list[tuple[dict[str, Any], str, int, str]] = [
    (
        {"train.runs.lenet_1gpu.num_gpus": 0, "seed": -1},
        "lenet_1gpu",
        2,
        "num_gpus: expected a number greater than",
    ),
    ({}, "lenet_3gpu", 2, "no run 'lenet_3gpu' in train.runs; did you mean lenet_2gpu?"),
    (
        {"train.runs.lenet_1gpu.momentum": 0.5},
        "lenet_1gpu",
        2,
        "with momentum in runs.lenet_1gpu, got sgd, which has none",
    ),
    ({"train.runs.lenet_1gpu.strategy": "ddp"}, "lenet_1gpu", 3, "no data yet"),
    ({}, "lenet_1gpu", 3, "no data yet"),
]
if not torch.cuda.is_available():
    tf32 = {"train.runs.lenet_1gpu.precision": "tf32"}
    MISTAKES.append((tf32, "lenet_1gpu", 4, "tf32 needs a CUDA GPU"))


@pytest.mark.parametrize(("changes", "name", "code", "complaint"), MISTAKES)
def test_a_mistake_ends_train_with_its_code_and_nothing_written(
    project, monkeypatch, capsys, changes, name, code, complaint
):
    before = files(project)
    edit_params(changes)
    monkeypatch.setattr(sys, "argv", ["stages.train", name])
    assert process.run(main) == code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == max(1, len(changes))
    assert all(line.startswith("ERROR: ") for line in lines), lines
    assert complaint in "\n".join(lines)
    assert files(project) - before == {".lab/last_error.json"}


RUN = {"name": "one", "recipe": SETTINGS, "seed": 0, "devices": CPU}
OTHER_RUNS = {
    "run": {"name": "two"},
    "recipe": {"recipe": SETTINGS.but(lr=0.1)},
    "strategy": {"recipe": SETTINGS.but(strategy="ddp")},
    "seed": {"seed": 1},
    "devices": {"devices": HALVES},
    "threads": {"devices": replace(CPU, threads=2)},
    "kind of device": {"devices": replace(CPU, kind="cuda")},
}
OTHER_PLACES = {
    "torch": lambda patch: patch.setattr(torch, "__version__", "3.0"),
    "processor": lambda patch: patch.setattr(torch.backends.cpu, "get_cpu_capability", str),
    "data": lambda patch: (DATA / SOURCE_FILE).write_text("{}"),
    "code": lambda patch: patch.setattr(one_run, "code", lambda: [Path("params.yaml")]),
}


@pytest.mark.parametrize("differs", [*OTHER_RUNS, *OTHER_PLACES])
def test_a_checkpoint_belongs_to_exactly_one_run(project, monkeypatch, differs):
    """Otherwise a run would resume a different run's weights as its own."""
    write_data(project / "data")
    key = one_run.checkpoint_key(**RUN)
    assert one_run.checkpoint_key(**RUN) == key
    OTHER_PLACES.get(differs, lambda patch: None)(monkeypatch)
    assert one_run.checkpoint_key(**RUN | OTHER_RUNS.get(differs, {})) != key


def test_checkpoints_of_shards_serve_any_number_of_devices_of_one_type(project):
    write_data(project / "data")
    gpus = replace(HALVES, devices=[torch.device("cuda", i) for i in range(2)])
    run = RUN | {"recipe": SETTINGS.but(shards=4)}
    one, two, on_gpus = (
        one_run.checkpoint_key(**run | {"devices": devices}) for devices in (CPU, HALVES, gpus)
    )
    assert one == two != on_gpus


def test_the_weights_of_several_seeds_are_the_first_ones(project):
    write_data(project / "data", train=64, test=10)
    small = small_run(train_images=64, test_images=10, batch_size=32, num_epochs=1)
    write_json(project / "reports" / "hardware.json", hardware("Zen"))
    saved = []
    for seeds in (1, 2):
        edit_params({"train.runs": {"one": small | {"seeds": seeds}}})
        one_run.train_run("one", load(Params))
        saved.append(Path("models/one.pt").read_bytes())
    assert saved[0] == saved[1]


LOADED = """
import json, sys
from pathlib import Path
from lab.core.params import load
from stages.train.measure.one_run import code, train_run
from stages.train.measure.params import Params
train_run("one", load(Params))
loaded = {getattr(module, "__file__", None) for module in sys.modules.values()}
print(json.dumps([sorted(filter(None, loaded)), [str(path) for path in code()]]))
"""


@pytest.mark.slow
def test_a_checkpoint_is_named_by_all_code_that_ran(project):
    """Otherwise a checkpoint of different code would pass for a current one."""
    write_data(project / "data", train=64, test=16)
    small = small_run(train_images=64, test_images=16, batch_size=32, optimizer="adam")
    edit_params({"train.runs": {"one": small}})
    python = forked.on_path() / "python"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    said = subprocess.run(
        [python, "-c", LOADED], capture_output=True, env=environment, check=True
    ).stdout
    loaded, hashed = json.loads(said.splitlines()[-1])
    ours = {path for path in loaded if path.startswith((f"{ROOT}/lab/", f"{ROOT}/stages/"))}
    assert {path for path in ours if not path.endswith("__init__.py")} <= set(hashed)
    assert f"{ROOT}/lab/optim/update_rules.py" in hashed
    assert not [path for path in hashed if "/page/" in path or "/report/" in path]


@pytest.mark.slow
def test_divergence_ends_train_with_code_6_and_no_weights(project, monkeypatch, capsys):
    write_data(project / "data", train=600, test=100)
    diverging = small_run(lr=300, batch_size=32)
    edit_params(
        {"train.runs": {"one": diverging, "two": diverging | {"strategy": "ddp", "num_gpus": 2}}}
    )
    monkeypatch.setattr(sys, "argv", ["stages.train", "one"])
    of_ranks = run_stage("stages.train", "two")
    for code, said in (
        (process.run(main), capsys.readouterr().err.splitlines()),
        (of_ranks.returncode, errors(of_ranks)),
    ):
        assert code == 6
        [line] = said
        assert re.search(r"the loss is (nan|inf) in epoch 1, step \d+; lower lr \(it is 300", line)
    assert not (project / "models").exists()
    assert not list(Path(".lab/checkpoints").glob("*/")), "no checkpoint of what is not finite"


@pytest.mark.parametrize(
    "name",
    ["../../a", "/a", "a/b", "-rf", "$(touch b)", "a; touch b", "a b", "a\n", "ż", "", "a" * 65],
)
def test_a_name_is_no_path_no_option_and_no_command(name):
    laptop = read_yaml(ROOT / "params.yaml")["train"]
    assert TrainParams.model_validate({**laptop, "runs": {"a_1": {}}}).runs
    with pytest.raises(ValidationError):
        TrainParams.model_validate({**laptop, "runs": {name: {}}})


def free_strings(schema: dict, where: str = "") -> Iterator[str]:
    """Yield the places where a JSON schema allows any text."""
    if schema.get("type") == "string" and not {"pattern", "enum", "const"} & set(schema):
        yield where
    for key, part in schema.items():
        for name, inner in part.items() if key in ("properties", "$defs") else ():
            yield from free_strings(inner, f"{where}.{name}")
        if key in ("items", "additionalProperties", "propertyNames") and isinstance(part, dict):
            yield from free_strings(part, f"{where}.{key}")
        if key in ("anyOf", "prefixItems"):
            for inner in part:
                yield from free_strings(inner, where)


def test_every_text_in_params_has_a_pattern():
    assert [
        place for model in params_models() for place in free_strings(model.model_json_schema())
    ] == []
