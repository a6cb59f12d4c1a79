"""DVC accepts changed metrics as results if nothing else changed."""

import shutil
from pathlib import Path

import pytest
from dvc.repo import Repo

from lab.core.params import read_yaml
from lab.tools.derive import accept, rewrite
from tests.helpers import COMMITTED

PIPELINE = """\
stages:
  train:
    matrix: {run: [one]}
    cmd: a
    deps: [code]
    outs: [models/one.pt]
    metrics: [{reports/train/one/metrics.json: {cache: false}}]
"""
METRICS = Path("reports/train/one/metrics.json")


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Make a project whose results are all in DVC."""
    monkeypatch.chdir(tmp_path)
    Path("dvc.yaml").write_text(PIPELINE)
    for path in map(Path, ("code", "models/one.pt", METRICS)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("made")
    with Repo.init(no_scm=True) as repo:
        repo.commit(force=True)


def accepted() -> set[tuple[str, str]]:
    """Return each path and hash that DVC holds for the run's deps and results."""
    run = read_yaml(Path("dvc.lock"))["stages"]["train@one"]
    return {(each["path"], each["md5"]) for each in run["deps"] + run["outs"]}


def test_metrics_are_accepted_in_a_clone_without_weights(trained):
    before = accepted()
    for folder in ("models", ".dvc/cache"):
        shutil.rmtree(folder)
    METRICS.write_text("another")
    accept([METRICS])
    assert {path for path, _ in accepted() - before} == {METRICS.as_posix()}


@pytest.mark.parametrize(
    ("path", "text"), [("code", "another"), ("dvc.yaml", PIPELINE.replace("cmd: a", "cmd: b"))]
)
def test_metrics_are_not_accepted_if_something_else_changed_as_well(trained, path, text):
    before = accepted()
    Path(path).write_text(text)
    METRICS.write_text("another")
    accept([METRICS])
    assert accepted() == before


def test_metrics_are_rewritten_next_to_an_unfinished_measurement(tmp_path):
    for stage in ("schedules", "together"):
        shutil.copytree(COMMITTED / "reports" / stage, tmp_path / stage)
    (tmp_path / "schedules" / "conditions.json").unlink()  # written last
    changed = tmp_path / "together" / "metrics.json"
    before = changed.read_text()
    changed.write_text("{}")
    assert rewrite(tmp_path) == [changed]
    assert changed.read_text() == before
