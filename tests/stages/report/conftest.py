"""Results of every stage and the report on them, each made once."""

import functools
import os
import shutil
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from markupsafe import Markup

from lab.core.files import REPORTS, read_json, write_json
from lab.core.params import PARAMS_FILE, read_yaml
from lab.core.process import run
from lab.machine.devices import Devices
from lab.report.language import locale
from lab.report.prose import block
from lab.training.loop import Epoch
from stages.claims.__main__ import main as judge_claims
from stages.report import questions
from stages.report.calls import QuestionCalls
from stages.report.evidence import Evidence, read_evidence
from tests import made_up
from tests.helpers import (
    COMMITTED,
    ROOT,
    committed_params,
    hardware,
    python,
    recipe,
    small_run,
    write_data,
)
from tests.stages.train import made_up as made_up_training

CPU = Devices("cpu-virtual", [torch.device("cpu")] * 2, threads=1)
EPOCHS = [Epoch(1, 2.3, 0.1, 4.0), Epoch(2, 1.6, 0.6, 2.0), Epoch(3, 0.7, 0.75, 2.5)]
SETTINGS = recipe(**small_run(num_gpus=2, num_epochs=3))


def write_runs(project: Path, dataset: str) -> None:
    for name in read_yaml(project / PARAMS_FILE)["train"]["runs"]:
        folder = project / "reports" / "train" / name
        made_up_training.write(folder, SETTINGS, EPOCHS, CPU, dataset)


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project for the report: made-up benchmarks and training, the committed theory."""
    project = tmp_path_factory.mktemp("results")
    reports = project / "reports"
    (project / PARAMS_FILE).write_text(committed_params())
    shutil.copytree(ROOT / "profiles", project / "profiles")
    write_data(project / "data", train=400)
    write_runs(project, "fashion-mnist")
    for stage in made_up.THEORY:
        shutil.copytree(COMMITTED / "reports" / stage, reports / stage)
    for stage in made_up.BENCHES:
        made_up.write(stage, reports)
    facts = {"dataset": "fashion-mnist", "airfoil": "original"}
    write_json(reports / "fetch" / "conditions.json", facts)
    write_json(reports / "hardware.json", hardware("AMD EPYC"))
    for rows in reports.rglob("rows.csv"):
        path = rows.with_name("conditions.json")
        write_json(path, read_json(path) | {"machine": hardware("AMD EPYC")})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        assert run(judge_claims) == 0
    return project


@pytest.fixture
def project(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the project that a test may change, as the working directory."""
    shutil.copytree(results, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report_without_torch(project: Path, hash_seed: str) -> None:
    """Draw the report in a separate process that cannot import torch."""
    blocked = (
        "import sys; sys.modules['torch'] = None; from stages.report.__main__ import main; main()"
    )
    python("-c", blocked, cwd=project, PYTHONHASHSEED=hash_seed).check_returncode()


@pytest.fixture(scope="session")
def drawn(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project's reports folder with the report drawn, once for all workers."""
    base = tmp_path_factory.getbasetemp()
    project = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "drawn"
    with FileLock(project.with_suffix(".lock")):
        if not project.exists():
            drawing = tmp_path_factory.mktemp("drawing") / "project"
            shutil.copytree(results, drawing)
            report_without_torch(drawing, hash_seed="1")
            drawing.rename(project)
    return project / "reports"


@functools.cache
def committed_evidence() -> Evidence:
    """Return the evidence for pages of the committed results, which are in the current folder."""
    return read_evidence(REPORTS)


@pytest.fixture
def render(monkeypatch, tmp_path):
    """Return a function that renders a stage's page without drawing its figures.

    It reads the results in the current folder: the committed ones, unless a test changes folders.
    """
    monkeypatch.chdir(COMMITTED)

    def caption_alone(self, name, caller):
        assert name in self.figures, f"no figure {name}"
        return Markup(f'<figure id="figure-{name}"><p>{block(caller())}</p></figure>\n\n')

    monkeypatch.setattr(QuestionCalls, "figure", caption_alone)

    def rendered(
        stage: str, language: str, evidence: Evidence | None = None, **changed: object
    ) -> questions.Question:
        named = questions.named
        if evidence is None:
            there = Path.cwd() == COMMITTED.resolve()
            evidence = committed_evidence() if there else read_evidence(REPORTS)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(questions, "named", lambda *given: {**named(*given), **changed})
            with locale(language):
                return questions.question(stage, tmp_path, evidence)

    return rendered
