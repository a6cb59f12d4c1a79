"""Damaged files of all kinds, given to the commands that read them: one line, and what mends it."""

import sys
from pathlib import Path

import pytest
import torch

from lab.core.files import write_json
from lab.core.params import load
from lab.core.process import run
from lab.machine.devices import precision_on
from lab.nets.models import MODELS
from lab.training.checkpoints import Checkpoints
from lab.training.loop import Progress
from lab.training.strategies.replicas import Replicas
from stages.train import __main__ as train
from stages.train.measure.one_run import checkpoint_key
from stages.train.measure.params import Params
from stages.train.measure.placement import devices_of
from tests.helpers import edit_params, errors, hardware, run_stage, small_run, write_data

# in this order: the first brings the params back that the others read
COMMANDS = {
    "profiles laptop": (0, ("params.yaml is the laptop profile",)),
    "profiles smoke": (2, ("profiles/smoke.yaml, line 1: more than 32 sections", "mend the YAML")),
    "compare --reference ../hardware": (2, ("reference '../hardware': expected at most 64 lett",)),
    "compare --reference half": (3, ("half.json: damaged", "`git checkout reports/reference/half")),
    "retest": (3, ("claims/rows.csv: damaged (line 3: 1 cells for 2 columns); delete it and run",)),
}


@pytest.fixture
def damaged(project: Path) -> Path:
    """A project with something wrong in every file."""
    reports = project / "reports"
    write_json(reports / "hardware.json", hardware("this"))
    for path, content in {
        reports / "reference" / "half.json": '{"name": "half", "profile": "lap',
        reports / "claims" / "rows.csv": "id,verdict\nA1,confirmed\nA2\n",
        project / "profiles" / "smoke.yaml": "a: " + "[" * 3000,
        project / "params.yaml": "seed: [",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return project


def test_each_command_names_the_file_and_the_cure(damaged):
    for command, (code, words) in COMMANDS.items():
        name, *arguments = command.split()
        result = run_stage(f"lab.tools.{name}", *arguments)
        assert result.returncode == code, (command, result.stderr)
        said = errors(result) if code else result.stdout.splitlines()[-1:]
        assert len(said) == 1, command
        assert [each for each in words if each not in said[0]] == [], said


def checkpoints_of(name: str) -> Checkpoints:
    """Those that a run would go on from."""
    params = load(Params)
    devices, own = devices_of(params.train.runs[name], params.devices)
    precision = precision_on(own[0], params.train.runs[name].precision)
    settings = params.train.runs[name].model_copy(update={"precision": precision})
    return Checkpoints(checkpoint_key(name, settings, params.seed, devices))


def test_a_checkpoint_that_somebody_else_wrote_ends_training_with_5(project, monkeypatch, capsys):
    """Under the name, the hash and the key of this very run's."""
    write_data(project / "data", train=600, test=100)
    edit_params({"train.runs": {"one": small_run()}})
    monkeypatch.setattr(sys, "argv", ["stages.train", "one"])
    nets = {name: MODELS[name](torch.Generator()) for name in ("lenet", "mlp")}
    states = {
        name: Replicas(net, [torch.device("cpu")]).state() | Progress().state()
        for name, net in nets.items()
    }
    for step, (state, complaint) in enumerate(
        (
            ({}, "a file is no checkpoint (params: field required); delete .lab/checkpoints/"),
            (states["lenet"] | {"losses": 3}, "a file is no checkpoint (losses: input should be"),
            (states["mlp"], "a file is another net's; delete the folder to start afresh"),
        )
    ):
        checkpoints_of("one").save(0, step, state)
        assert run(train.main) == 5
        [line] = capsys.readouterr().err.splitlines()
        assert complaint in line
        assert not Path("models").exists()
