"""Ctrl-C and SIGTERM, to whatever layer, at any moment: one line, 130 or 143, nothing left."""

import shutil
import time
from signal import SIGINT, SIGKILL, SIGTERM

import pytest

from tests.faults import tiny_project
from tests.faults.processes import Command, invoke, stage
from tests.helpers import ROOT, edit_params, small_run, write_data

LINE = "ERROR: interrupted; the same command goes on"


@pytest.fixture
def long_run(project):
    write_data(project / "data", train=600, test=100)
    edit_params({"train.runs": {"long": small_run(num_epochs=10_000)}})
    return project


def test_a_stage_hears_signals_from_its_first_moments_on(long_run):
    """While Python starts, while the stage imports, and while it trains."""
    moments = [(s, number) for s in (0.08, 0.4, 1.5, 4) for number in (SIGINT, SIGTERM)]
    commands = [
        Command(stage("stages.train", "long"), long_run, {"PYTHONPATH": str(ROOT)}) for _ in moments
    ]
    start = time.monotonic()
    for (seconds, number), command in zip(moments, commands, strict=True):
        time.sleep(max(0, start + seconds - time.monotonic()))
        command.process.send_signal(number)
    for (seconds, number), command in zip(moments, commands, strict=True):
        code, errors = command.end(10)
        traceback = code in (1, 130) and any(line.startswith("Traceback") for line in errors)
        if traceback and not any(str(ROOT) in line for line in errors):
            continue  # Python itself was still starting, and knew of nobody
        assert code in (128 + number, 7), (seconds, errors)  # 7: another one trains it
        assert len(errors) <= 1, (seconds, errors)
        assert not command.orphans()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_project.make(tmp_path_factory.mktemp("tiny") / "project")


def test_whoever_of_invoke_dvc_and_stage_is_ended_takes_the_others_along(tiny, tmp_path):
    """While images are drawn, which takes seconds. A kill says nothing, and leaves nothing."""
    ends = {
        ("invoke", SIGINT): 130,
        ("invoke", SIGTERM): 143,
        ("dvc", SIGTERM): 143,
        ("stage", SIGTERM): 143,
        ("invoke", SIGKILL): 137,
        ("dvc", SIGKILL): 137,
        ("stage", SIGKILL): 137,
    }
    commands = {}
    for layer, number in ends:
        folder = shutil.copytree(tiny, tmp_path / f"{layer}-{number}")
        words = invoke("repro", "--stage", "fetch")
        commands[layer, number] = Command(words, folder, {"LAB_DATA_MIRROR": ""})
    for (layer, number), command in commands.items():
        assert command.wait_for(lambda c=command: _runs(c, "stages.fetch"), 60)
        [victim] = [
            p for p in command.layer(layer) if layer != "stage" or "stages.fetch" in p.cmdline()
        ][:1]
        victim.send_signal(number)
    for (layer, number), command in commands.items():
        code, errors = command.end(15)
        assert code == ends[layer, number], (layer, number, errors)
        assert not command.orphans(), (layer, number)
        assert not [line for line in errors if "Traceback" in line]
        if number != SIGKILL:
            assert errors.count(LINE) == 1, (layer, number, errors)


def _runs(command: Command, module: str) -> bool:
    return any(module in process.cmdline() for process in command.layer("stage"))


def test_what_a_killed_dvc_left_half_written_does_not_stop_the_same_command(tiny, tmp_path):
    """DVC writes its lock file and its list of who is busy in place."""
    folder = shutil.copytree(tiny, tmp_path / "project")
    words = invoke("repro", "--stage", "probe")
    assert Command(words, folder).end() == (0, ["# probe: not timed before, then at most 0 s"])
    lock = folder / "dvc.lock"
    whole = lock.read_text()
    lock.write_text(whole[: whole.index("md5") + 1])
    (folder / ".dvc" / "tmp" / "rwlock").write_text('{"write": {"/')
    code, errors = Command(words, folder).end()
    assert code == 0, errors
    assert "# DVC failed, and no stage: mending what can be mended safely" in errors
    assert lock.read_text() == whole
