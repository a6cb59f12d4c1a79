"""Training where the disk fills, permissions change, memory ends, or nobody reads what it says."""

import json
from pathlib import Path

import pytest

from lab.core.fail_points import VARIABLE
from tests.faults.processes import Command, stage
from tests.helpers import ROOT, edit_params, small_run, write_data

FAULTS = {  # by run: what happens, the exit code, and a word of what is said
    "undisturbed": ("", 0, ""),
    "no_space_for_a_checkpoint": ("write .lab/checkpoints/*:2=no-space", 8, "no space"),
    "checkpoints_not_writable": ("write .lab/checkpoints/*:2=no-permission", 4, "permissions"),
    "results_not_writable": ("write models/*=no-permission", 4, "permissions"),
    "killed_in_a_checkpoint": ("fsync .lab/checkpoints/*:2=kill", 137, ""),
    "killed_before_a_rename": ("rename models/*=kill", 137, ""),
    "killed_after_the_last_write": ("delete .lab/checkpoints/*=kill", 137, ""),
}
TOO_LARGE = """
import resource, runpy, sys
import stages.train.measure.one_run
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, resource.RLIM_INFINITY))
sys.argv = ["stages.train", "too_large"]
runpy.run_module("stages.train", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def runs(project):
    write_data(project / "data", train=600, test=100)
    large = small_run(net="resnet18", batch_size=600)
    edit_params(
        {"train.runs": {name: small_run() for name in (*FAULTS, "unread")} | {"too_large": large}}
    )
    return project


def start(folder: Path, words: list[str], **environment: str) -> Command:
    return Command(words, folder, {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | environment)


def test_a_run_that_is_disturbed_says_why_and_the_same_command_ends_with_the_same_weights(runs):
    commands = {
        name: start(runs, stage("stages.train", name), **({VARIABLE: fault} if fault else {}))
        for name, (fault, _, _) in FAULTS.items()
    }
    too_large = start(runs, [stage()[0], "-c", TOO_LARGE])
    unread = start(runs, ["sh", "-c", f"{' '.join(stage('stages.train', 'unread'))} | head -0"])
    for name, command in commands.items():
        _, code, word = FAULTS[name]
        found, errors = command.end()
        assert (found, len(errors)) == (code, int(bool(word))), (name, errors)
        assert all(word in error for error in errors), name
        assert not command.orphans(), name
        for path in Path("reports").rglob("*.json"):
            json.loads(path.read_bytes())
    found, errors = too_large.end()
    assert (found, len(errors)) == (8, 1), errors
    assert "out of memory" in errors[0]
    assert unread.end()[1] == []

    again = {
        name: start(runs, stage("stages.train", name)) for name in FAULTS if name != "undisturbed"
    }
    expected = Path("models/undisturbed.pt").read_bytes()
    for name, command in again.items():
        assert command.end() == (0, []), name
        assert Path(f"models/{name}.pt").read_bytes() == expected, name
    assert not list(Path().rglob("*.part-*")), "what the dead have left is swept"
