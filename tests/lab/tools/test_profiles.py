import pytest
from dvc.utils.hydra import apply_overrides  # how `dvc exp run -S` writes params.yaml

from lab.core import params
from lab.core.errors import ParamsError
from lab.tools import profiles
from stages.probe.__main__ import params_models
from tests.helpers import ROOT, edit_params

PROFILES = ROOT / "profiles"


def test_laptop_restores_the_committed_params_except_keys_that_no_profile_changes(project):
    path = project / "params.yaml"
    path.write_text(path.read_text().replace("\nseed: 0", "\nseed: 7"))
    edited = path.read_bytes()
    for name in ("smoke", "study", "full", "laptop"):
        profiles.write_profile(name)
    assert path.read_bytes() == edited


def test_laptop_lists_what_the_others_change():
    def keys(name: str) -> set[str]:
        return {key for key, _ in profiles.leaves(params.read_yaml(PROFILES / f"{name}.yaml"))}

    others = keys("smoke") | keys("study") | keys("full")
    added = {key for key in keys("laptop") if key.count(".") == 2 and "train.runs." in key}
    assert {key for key in others if key.rpartition(".")[0] not in added} == keys("laptop") - added


def test_a_profile_keeps_nothing_of_the_previous_one(project):
    study = profiles.merge("study")
    profiles.write_profile("smoke")
    profiles.write_profile("study")
    assert (project / "params.yaml").read_text() == study


@pytest.mark.parametrize("name", ["smoke", "laptop", "study", "full"])
def test_every_profile_fits_all_stages_and_keeps_the_comments(project, capsys, name):
    profiles.write_profile(name)
    params.check(params_models())
    assert "# learning rate, where" in (project / "params.yaml").read_text()
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


NO_MIRRORS = ["data.mirrors.fashion_mnist=[]", "data.mirrors.airfoil=[]"]


@pytest.mark.parametrize("run", ["lenet_1gpu", "record_83", "record_92"])
def test_a_run_that_a_profile_removes_comes_back_as_listed_and_dvc_may_empty_lists(project, run):
    path = project / "params.yaml"
    expected = params.read_yaml(path)
    listed = params.read_yaml(PROFILES / "laptop.yaml")["train"]["runs"][run]
    expected["train"]["runs"][run] = {key: value for key, value in listed.items() if value}
    edit_params({f"train.runs.{run}": None}, path=project / "profiles" / "smoke.yaml")
    for name in ("smoke", "full", "laptop", "study", "laptop"):
        profiles.write_profile(name)
        text, written = path.read_text(), params.read_yaml(path)
        apply_overrides(path, NO_MIRRORS)
        assert params.read_yaml(path)["train"] == written["train"]
        path.write_text(text)
    assert written["train"]["runs"].get(run, {}) == expected["train"]["runs"].pop(run)
    written["train"]["runs"].pop(run, None)
    assert written == expected


def test_an_unknown_profile_or_key_is_refused_and_nothing_is_written(project):
    before = (project / "params.yaml").read_bytes()
    (project / "profiles" / "odd.yaml").write_text("train:\n  epocs: 3\n")
    for name, complaint in (
        ("nope", "known: full, laptop, odd, smoke"),
        ("odd", "train.epocs: not in params.yaml"),
    ):
        with pytest.raises(ParamsError, match=complaint):
            profiles.write_profile(name)
    assert (project / "params.yaml").read_bytes() == before
