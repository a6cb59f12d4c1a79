"""The lab overwrites only its own files; a user's file is kept under a new name."""

from pathlib import Path

import pytest

from lab.core.errors import DataError
from lab.core.outputs import check_place, write_own

WEIGHTS = Path("models/a.pt")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def found() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(WEIGHTS.parent.iterdir())}


def test_the_labs_own_file_is_replaced_and_a_users_is_kept_under_a_new_name():
    put(WEIGHTS, b"one")
    write_own(WEIGHTS, b"one")  # identical content is not a user's
    write_own(WEIGHTS, b"two")
    assert found() == {"a.pt": b"two"}
    for mine in (b"mine", b"mine again"):
        put(WEIGHTS, mine)
        write_own(WEIGHTS, b"three")
    assert found() == {"a.pt": b"three", "a.pt.1": b"mine", "a.pt.2": b"mine again"}


def test_a_file_is_recorded_before_it_is_written():
    """A kill between the two must not make the lab's file look like a user's."""
    WEIGHTS.parent.write_bytes(b"no folder")
    with pytest.raises(Exception, match=r"models"):
        write_own(WEIGHTS, b"one")
    WEIGHTS.parent.unlink()
    put(WEIGHTS, b"one")
    write_own(WEIGHTS, b"two")
    assert found() == {"a.pt": b"two"}


def test_a_folder_may_be_a_link_within_the_project_but_not_out_of_it(project, tmp_path_factory):
    (project / "disk").mkdir()
    WEIGHTS.parent.symlink_to("disk")
    write_own(WEIGHTS, b"one")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    WEIGHTS.parent.unlink()
    WEIGHTS.parent.symlink_to(elsewhere)
    with pytest.raises(DataError, match=f"models: a link to {elsewhere}"):
        check_place(WEIGHTS)
    with pytest.raises(DataError, match="outside the project"):
        write_own(WEIGHTS, b"two")
    assert not [*elsewhere.iterdir()]
