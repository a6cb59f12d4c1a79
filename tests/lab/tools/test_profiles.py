import sys

import pytest
from dvc.utils.hydra import apply_overrides  # how `dvc exp run -S` writes params.yaml

from lab.core import params
from lab.core.errors import ParamsError
from lab.tools import profiles
from stages.probe.__main__ import params_models
from stages.train.measure.params import Params as TrainStage
from tests.helpers import ROOT

PROFILES = ROOT / "profiles"


def test_laptop_brings_the_committed_params_back_whatever_profile_was_there(project, monkeypatch):
    committed = (project / "params.yaml").read_bytes()
    for name in ("smoke", "study", "full", "laptop"):
        monkeypatch.setattr(sys, "argv", ["profiles", name])
        profiles.main()
    assert (project / "params.yaml").read_bytes() == committed


def test_edits_of_keys_that_no_profile_changes_stay(project, monkeypatch):
    path = project / "params.yaml"
    path.write_text(path.read_text().replace("\nseed: 0", "\nseed: 7"))
    for name in ("study", "laptop"):
        monkeypatch.setattr(sys, "argv", ["profiles", name])
        profiles.main()
    assert params.read_yaml(path)["seed"] == 7


def test_laptop_lists_what_the_others_change():
    def keys(name: str) -> set[str]:
        return {key for key, _ in profiles.leaves(params.read_yaml(PROFILES / f"{name}.yaml"))}

    others = keys("smoke") | keys("study") | keys("full")
    added = {key for key in keys("laptop") if key.count(".") == 2 and "train.runs." in key}
    assert {key for key in others if key.rpartition(".")[0] not in added} == keys("laptop") - added


@pytest.mark.parametrize("name", ["smoke", "laptop", "study", "full"])
def test_every_profile_fits_all_stages_and_keeps_the_comments(project, monkeypatch, capsys, name):
    monkeypatch.setattr(sys, "argv", ["profiles", name])
    profiles.main()
    params.check(params_models())
    assert "# learning rate of SGD" in (project / "params.yaml").read_text()
    assert f"params.yaml is the {name} profile" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["smoke", "laptop", "study", "full"])
def test_dvc_changes_one_line_of_what_a_profile_writes(project, name):
    path = project / "params.yaml"
    path.write_text(profiles.merge(name))
    before = path.read_text().splitlines()
    apply_overrides(path, ["train.runs.record_83.lr=0.05"])
    after = path.read_text().splitlines()
    assert len(after) == len(before)
    [changed] = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed.split("#")[0].split() == ["lr:", "0.05"]


@pytest.mark.parametrize("name", ["smoke", "study", "full"])
def test_a_profile_holds_only_what_differs(project, name):
    document = params.read_yaml(project / "params.yaml")
    defaults, runs = document["train"]["defaults"], document["train"]["runs"]
    document["train"]["runs"] = {run: defaults | own for run, own in runs.items()}
    base = dict(profiles.leaves(document))
    for key, value in profiles.leaves(params.read_yaml(project / "profiles" / f"{name}.yaml")):
        assert base.get(key) != value, key


def test_full_is_the_notes_workload(project, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["profiles", "full"])
    profiles.main()
    runs = params.load(TrainStage).train.runs
    for name, net, num_gpus, batch_size, lr in (
        ("lenet_1gpu", "lenet", 1, 256, 0.2),
        ("lenet_2gpu", "lenet", 2, 256, 0.2),
        ("resnet18_1gpu", "resnet18", 1, 256, 0.1),
        ("resnet18_2gpu", "resnet18", 2, 512, 0.2),
        ("resnet18_1gpu_control", "resnet18", 1, 512, 0.2),
    ):
        run = runs[name].model_dump()
        assert run.pop("strategy") in ("replicas", "ddp")
        assert run == {
            "net": net,
            "num_gpus": num_gpus,
            "cpu_threads": "auto",
            "shards": "none",
            "batch_size": batch_size,
            "lr": lr,
            "momentum": 0.0,
            "weight_decay": 0.0,
            "label_smoothing": 0.0,
            "schedule": "constant",
            "augment": "none",
            "num_epochs": 10,
            "precision": "fp32",
            "compile": "none",
            "train_images": 60_000,
            "test_images": 10_000,
        }


def test_an_unknown_profile_or_key_is_refused_and_nothing_written(project, monkeypatch):
    before = (project / "params.yaml").read_bytes()
    (project / "profiles" / "odd.yaml").write_text("train:\n  epocs: 3\n")
    for name, complaint in (
        ("nope", "known: full, laptop, odd, smoke"),
        ("odd", "train.epocs: not in params.yaml"),
    ):
        monkeypatch.setattr(sys, "argv", ["profiles", name])
        with pytest.raises(ParamsError, match=complaint):
            profiles.main()
    assert (project / "params.yaml").read_bytes() == before


def test_a_profile_may_add_a_run(project, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["profiles", "full"])
    profiles.main()
    record = params.load(TrainStage).train.runs["record_94"]
    assert (record.net, record.batch_size, record.strategy) == ("convnet_deep", 128, "replicas")
