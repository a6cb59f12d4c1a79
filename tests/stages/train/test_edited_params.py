"""Params that change while a run trains, and before it resumes."""

import os
import signal
import sys

import pytest

from lab.core.process import run
from lab.training.checkpoints import Checkpoints
from stages.train.__main__ import main
from tests.helpers import edit_params, small_run, write_data


@pytest.fixture
def runs(project, monkeypatch):
    """Return a project with little data and the run `one`, named on the command line."""
    write_data(project / "data", train=600, test=100)
    edit_params({"train.runs": {"one": small_run(batch_size=64, num_epochs=1)}})
    monkeypatch.setattr(sys, "argv", ["stages.train", "one"])
    return project


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"train.runs.one.lr": 0.3}, 2),
        ({"train.defaults.lr": 0.1, "train.runs.one.lr": 0.2}, 0),  # its rate is still 0.2
        ({"train.timeout_s": 7}, 0),  # how long ranks wait affects no result
    ],
)
def test_an_edit_fails_the_run_only_if_it_would_change_the_result(
    runs, monkeypatch, capsys, changes, code
):
    """DVC reads params after a stage ends, and would attribute the results to the new ones."""
    save = Checkpoints.save

    def edit_and_save(*arguments):
        edit_params(changes)
        save(*arguments)

    monkeypatch.setattr(Checkpoints, "save", edit_and_save)
    assert run(main) == code
    assert ("params.yaml: changed" in capsys.readouterr().err) == (code == 2)


def test_a_run_with_different_params_starts_from_scratch(runs, monkeypatch, capsys):
    """A terminated run with the earlier params has left a checkpoint, which is not used."""
    save = Checkpoints.save

    def save_and_end(*arguments):
        save(*arguments)
        os.kill(os.getpid(), signal.SIGTERM)

    edit_params({"train.runs.one.num_epochs": 2})
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "save", save_and_end)
        assert run(main) == 143
    edit_params({"train.runs.one.lr": 0.1})
    assert run(main) == 0
    assert "resumes" not in capsys.readouterr().out
