"""How the doctor says what it finds; tests/faults/test_doctor.py has the states that it names."""

import hashlib
import json
from pathlib import Path

import pytest

from lab.core.process import run
from lab.tools.doctor import __main__ as doctor
from lab.tools.doctor import data, dvc_state, environment, lock_file, parameters, stored
from lab.tools.doctor.finding import Finding, fail, note, ok, some, warn
from tests.helpers import edit_params, small_run, write_data


def test_each_level_is_a_line_and_the_first_failure_gives_the_exit_code(
    project, monkeypatch, capsys
):
    def well():
        yield ok("fine")
        yield note("so\n it is", "see it")

    def broken():
        yield warn("works,  but")
        yield fail("bad", "mend it", exit_code=3)

    def worse():
        yield fail("worse")
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(
        doctor, "checks", lambda: [(c.__name__ + "_", c) for c in (well, broken, worse)]
    )
    monkeypatch.setattr("sys.argv", ["doctor"])
    assert run(doctor.main) == 3
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "ok    well : fine",
        "note  well : so it is; `see it`",
        "warn  broken : works, but",
        "FAIL  broken : bad; `mend it`",
        "FAIL  worse : worse",
        "FAIL  worse : not looked at: ZeroDivisionError: of ours",
    ]
    assert said.err.splitlines() == [
        "ERROR: bad; `mend it`",
        "ERROR: worse",
        "ERROR: not looked at: ZeroDivisionError: of ours",
    ]


def test_what_can_be_mended_is_said_and_mended_by_fix_alone(project, monkeypatch, capsys):
    mended = []

    def mend() -> str:
        mended.append(1)
        return "is well again"

    def ill():
        yield fail("ill", mend=mend)
        yield warn("ailing", mend=lambda: 1 / 0)

    monkeypatch.setattr(doctor, "checks", lambda: [("ill", ill)])
    monkeypatch.setattr("sys.argv", ["doctor"])
    assert run(doctor.main) == 4
    assert "`invoke doctor --fix` mends 2 of these" in capsys.readouterr().out
    assert not mended
    monkeypatch.setattr("sys.argv", ["doctor", "--fix"])
    assert run(doctor.main) == 4
    assert capsys.readouterr().out.splitlines() == [
        "fixed ill: is well again",
        "FAIL  ill: ailing; not mended: division by zero",
    ]
    assert mended
    monkeypatch.setattr("sys.argv", ["doctor", "--fixed"])
    with pytest.raises(SystemExit, match="2"):
        doctor.main()


def test_long_lists_are_short():
    assert some(["a", "b"]) == "a, b"
    assert some(list("abcde")) == "a, b, c and 2 more"


def levels(check) -> list[str]:
    return [finding.level for finding in check()]


def only(check) -> Finding:
    [finding] = check()
    return finding


def test_this_environment_has_what_the_lab_needs():
    assert "within their ranges" in only(environment.packages).text
    assert only(environment.torch_and_torchvision).text.startswith("torch 2.")


def test_torch_and_torchvision_of_different_releases_or_without_the_gpu(monkeypatch):
    facts = {"torch": "2.13.0+cpu", "torchvision": "0.27.0", "gpus": 0, "operators": True}
    [finding] = environment._torch(facts)
    assert "are of different releases" in finding.text
    assert finding.command.endswith("-m pip install -e . -c constraints.txt")
    monkeypatch.setattr(environment.shutil, "which", lambda name: f"/usr/bin/{name}")
    [finding] = environment._torch(facts | {"torchvision": "0.28.0"})
    assert (finding.level, finding.command) == ("warn", "nvidia-smi")
    [finding] = environment._torch(facts | {"torchvision": "0.28.0", "gpus": 8})
    assert finding.level == "ok"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import os; os.abort()", "importing torch ends in SIGABRT"),
        ("raise SystemExit('no numpy')", "torch does not import: no numpy"),
        ("raise SystemExit(1)", "torch does not import: no reason given"),
    ],
)
def test_a_torch_that_crashes_is_said(program, words, tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    finding = only(environment.torch_and_torchvision)
    assert words in finding.text
    assert "pip install -e ." in finding.command


def test_a_full_disk_is_said(project, monkeypatch):
    monkeypatch.setattr(
        environment.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 10**9})()
    )
    finding = only(environment.room)
    assert "has 1.0 GB free" in finding.text
    assert finding.exit_code == 8


def test_every_mistake_in_params_is_a_failure_of_its_own(project):
    assert levels(parameters.parameters) == ["ok"]
    edit_params({"seed": -1, "train.runs.lenet_1gpu.num_gpus": 0})
    assert [f.exit_code for f in parameters.parameters()] == [2, 2]


def test_data_are_known_from_look_alikes(project, tmp_path, monkeypatch):
    mirror = tmp_path / "mirror" / "fashion-mnist"
    mirror.mkdir(parents=True)
    (mirror / "train-images-idx3-ubyte.gz").touch()
    monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror.parent))
    finding = only(data.data_sets)
    assert f"no data yet, found at {mirror}" in finding.text
    assert (finding.level, finding.command) == ("note", "invoke repro --stage fetch")
    write_data(project / "data")
    assert levels(data.data_sets) == ["ok"]
    write_data(project / "data", origin="synthetic")
    finding = only(data.data_sets)
    assert "look-alikes" in finding.text and f"found at {mirror}" in finding.text
    assert (finding.level, finding.command) == ("warn", "invoke remeasure --stage fetch")
    (project / "data" / "source.json").unlink()
    assert (only(data.data_sets).level, only(data.data_sets).exit_code) == ("FAIL", 3)


def test_without_any_source_look_alikes_are_ahead(project):
    edit_params({"data.mirrors.fashion_mnist": ["http://127.0.0.1:1"]})
    finding = only(data.data_sets)
    assert (finding.level, finding.command) == ("warn", "export LAB_DATA_MIRROR=FOLDER")


@pytest.fixture
def weights(project: Path) -> Path:
    """Weights of a run, as DVC and its stage leave them, and the lock file that knows them."""
    edit_params({"train.runs": {"mine": small_run()}})
    (project / "dvc.yaml").write_text(
        "stages:\n  train:\n    matrix: {run: '${train.runs}'}\n"
        "    cmd: python -m stages.train ${item.run}\n    outs: ['models/${item.run}.pt']\n"
    )
    md5 = hashlib.md5(b"weights", usedforsecurity=False).hexdigest()
    for name in (f".dvc/cache/files/md5/{md5[:2]}/{md5[2:]}", "models/mine.pt"):
        (project / name).parent.mkdir(parents=True)
        (project / name).write_bytes(b"weights")
    lock = {
        f"train@{run}": {"cmd": "x", "outs": [{"path": f"models/{run}.pt", "md5": md5, "size": 7}]}
        for run in ("mine", "of_last_year")
    }
    (project / "dvc.lock").write_text(json.dumps({"schema": "2.0", "stages": lock}) + "\n")
    return project


def test_weights_are_those_of_the_runs_that_there_are(weights):
    assert levels(lock_file.lock_file) == ["ok"]
    assert levels(stored.outputs) == levels(stored.copies) == []
    Path("models/mine.pt").write_bytes(b"others")
    finding = only(stored.outputs)
    assert finding.text == "models/mine.pt is not what train@mine made"
    assert finding.command == "dvc checkout --force models/mine.pt"
    Path("models/mine.pt").unlink()
    assert only(stored.outputs).command == "dvc checkout models/mine.pt"
    copy = next(path for path in Path(".dvc/cache/files").rglob("*") if path.is_file())
    copy.write_bytes(b"damaged")
    assert only(stored.copies).command == f"rm -f {copy}"
    copy.unlink()
    finding = only(stored.outputs)
    assert (finding.level, finding.command) == ("note", "invoke repro")
    Path("models/mine.pt").write_bytes(b"others")
    assert only(stored.outputs).command == "invoke repro --stage train@mine"
    Path("models/mine.pt").write_bytes(b"weights")
    assert only(stored.copies).command == "invoke repro --stage train@mine"


def test_a_lock_file_that_knows_other_stages_is_a_warning(weights):
    text = Path("dvc.yaml").read_text()
    Path("dvc.yaml").write_text(text.replace("  train:", "  training:"))
    [unknown] = lock_file.lock_file()
    assert "knows stages that dvc.yaml does not: train@mine" in unknown.text


def test_the_newer_setting_counts(project):
    folder = project / ".dvc"
    folder.mkdir()
    (folder / "config").write_text("[core]\n    analytics = false\n[cache]\n    dir = a\n")
    (folder / "config.local").write_text("['remote \"x\"']\n    url = y\n[cache]\n    dir = b\n")
    assert dvc_state.setting("cache", "dir") == "b"
    assert dvc_state.setting("cache", "type") == ""
    finding = only(dvc_state.settings)
    assert (finding.level, finding.command) == ("note", "dvc config core.check_update false")
    (folder / "config.local").write_text("[core")
    assert only(dvc_state.settings).command == "rm .dvc/config.local"
