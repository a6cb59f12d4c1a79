import pytest

from lab.core.errors import MachineError
from lab.core.exit_codes import run
from lab.tools import doctor
from tests.helpers import write_data


def test_each_level_is_printed_and_a_failure_is_exit_code_4(project, monkeypatch, capsys):
    def well() -> str:
        """Well."""
        return "fine"

    def so_so() -> str:
        """So so."""
        raise Warning("works, but")

    def broken() -> str:
        """Broken."""
        raise MachineError("bad; mend it")

    assert list(doctor.examine((well, so_so, broken))) == [
        ("ok", "well", "fine"),
        ("warn", "so so", "works, but"),
        ("FAIL", "broken", "bad; mend it"),
    ]
    monkeypatch.setattr(doctor, "examine", lambda: iter([("FAIL", "broken", "bad; mend it")]))
    assert run(doctor.main) == 4
    assert "FAIL  broken: bad; mend it" in capsys.readouterr().out


def test_this_environment_has_what_the_lab_needs():
    assert "within their ranges" in doctor.packages()
    assert "torch" in doctor.torch_and_torchvision()


def test_another_python_on_path_is_a_warning(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Warning, match="`python` on PATH is None; use `invoke`"):
        doctor.interpreter()


def test_a_folder_that_is_no_repository_is_said(project):
    with pytest.raises(MachineError, match="not a git repository"):
        doctor.git()


@pytest.mark.parametrize("content", [None, "", "<<<<<<< HEAD\nstages: {"])
def test_a_damaged_lock_is_said(project, content):
    if content is not None:
        (project / "dvc.lock").write_text(content)
    with pytest.raises(MachineError, match="git checkout dvc"):
        doctor.pipeline()


def test_a_lock_left_by_a_dead_dvc_is_a_warning(project, monkeypatch):
    (project / "dvc.lock").write_text("schema: '2.0'\nstages: {}\n")
    (project / ".dvc" / "tmp").mkdir(parents=True)
    monkeypatch.setattr(doctor.psutil, "process_iter", lambda attributes: [])
    (project / doctor.LOCK_FILE).write_text('{"write": {}}')  # as a DVC that ended well leaves it
    assert "dvc.lock has 0 stages" in doctor.pipeline()
    (project / doctor.LOCK_FILE).write_text('{"read": {"data": [{"pid": 1, "cmd": "dvc repro"}]}}')
    with pytest.raises(Warning, match="rwlock"):
        doctor.pipeline()


def test_a_full_disk_is_said(monkeypatch):
    monkeypatch.setattr(
        doctor.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 10**9})()
    )
    with pytest.raises(MachineError, match=r"1\.0 GB free.*make room"):
        doctor.disk()


def test_data_are_known_from_look_alikes(project, tmp_path, monkeypatch):
    mirror = tmp_path / "mirror" / "fashion-mnist"
    mirror.mkdir(parents=True)
    (mirror / "train-images-idx3-ubyte.gz").touch()
    monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror.parent))
    assert "not fetched yet; found at" in doctor.data_sets()
    write_data(project / "data")
    assert "unchanged" in doctor.data_sets()
    write_data(project / "data", origin="synthetic")
    with pytest.raises(Warning, match="look-alikes"):
        doctor.data_sets()
