"""Whatever is in a file that the lab reads, it is a value or an error that says what to do.

A few hundred inputs, the same each time; `python -m tests.faults.fuzz` tries a million.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from lab.core.errors import DataError, LabError
from tests.faults.fuzz import outcome as outcomes
from tests.faults.fuzz import project
from tests.faults.fuzz.cases import CASES
from tests.faults.fuzz.outcome import outcome
from tests.faults.fuzz.targets import TARGETS
from tests.faults.fuzz.trial import Trial

FEW = 3  # files of a target, of which some have 30
INPUTS = {  # by what they take
    **dict.fromkeys(("idx", "images", "airfoil", "source", "gzip", "json", "rows"), 30),
    **dict.fromkeys(("params", "picture", "checkpoint", "stage times", "catalogue"), 30),
    **dict.fromkeys(("compare", "retest", "weights"), 15),
}


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """The targets in a small project, which is the working directory."""
    root = tmp_path_factory.mktemp("fuzz") / "project"
    root.mkdir()
    project.make(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr(tempfile, "tempdir", str(root))
        yield {name: Trial(target) for name, target in TARGETS.items()}


@pytest.mark.parametrize(
    ("name", "path", "content", "kind"),
    CASES,
    ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)],
)
def test_what_was_unclear_once(trials, name, path, content, kind):
    found = trials[name].judge(path, content)
    assert found.kind == kind, found


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_valid_is_accepted(trials, name):
    for path, content in list(trials[name].valid.items())[:FEW]:
        found = trials[name].judge(path, content)
        assert found.kind == "accepted", (path, found)


NO_FILES = {
    "nothing": lambda path: None,
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "loop": lambda path: path.symlink_to(path.name),
    "huge": lambda path: (path.touch(), os.truncate(path, 2**30)),
}
# of the others the target itself opens the file, to vouch for it
OPENED_BY_THE_LAB = (
    *("source", "json", "rows", "params", "all params", "profiles", "picture", "predict", "doctor"),
    *("compare", "retest", "stage times", "claims", "page", "catalogue"),
)


@pytest.mark.parametrize("made", NO_FILES)
@pytest.mark.parametrize("name", OPENED_BY_THE_LAB)
def test_what_is_no_file_or_a_huge_one_is_said(trials, name, made):
    for path in list(trials[name].valid)[:FEW]:
        found = trials[name].judge_without(path, NO_FILES[made])
        assert found.kind != "unclear", (path, found)


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_are_accepted_or_refused_clearly(trials, name):
    @settings(max_examples=INPUTS[name], suppress_health_check=list(HealthCheck), database=None)
    @given(trials[name].inputs())
    def test(tried):
        found = trials[name].judge(*tried)
        assert found.kind != "unclear", found

    test()


def _raises(error: BaseException) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (_raises(KeyError("net")), "KeyError at"),
        (_raises(RecursionError()), "RecursionError at"),
        (_raises(LabError("a.json: damaged; delete it")), "exit code 1"),
        (_raises(DataError("a.json: damaged")), "a line without a cure"),
        (_raises(DataError("a; b\n" * 100)), "100 lines"),
        (lambda: time.sleep(2), "SlowError at"),
        (lambda: Path("../canary").write_text("a"), "EscapeError at"),
        (lambda: Path("canary").symlink_to("/etc/passwd"), "EscapeError at"),
        (lambda: subprocess.run(["true"], check=False), "EscapeError at"),
        (lambda: os.system("true"), "EscapeError at"),  # noqa: S605
    ],
)
def test_the_harness_sees_what_it_looks_for(trials, monkeypatch, call, place):
    monkeypatch.setattr(outcomes, "SECONDS", 0.1)
    found = outcome(call, (3,))
    assert found.kind == "unclear"
    assert found.place.startswith(place), found


def test_the_harness_sees_memory(trials, monkeypatch):
    monkeypatch.setattr(outcomes, "MIB", 100)
    monkeypatch.setattr(outcomes, "_peak", _peaks := iter([0, 10**12, 10**12, 10**12]).__next__)
    assert outcome(lambda: None, ()).place == "memory"
    del _peaks


def test_the_harness_leaves_what_is_clear(trials):
    assert outcome(lambda: Path("canary").write_text("a"), ()).kind == "accepted"
    assert outcome(_raises(DataError("a; b\nc; d")), (3,)).kind == "refused"
    assert outcome(_raises(ValueError()), (), (ValueError,)).kind == "refused"
