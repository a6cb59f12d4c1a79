"""Whose a file is, by what was written before, and what is never replaced."""

import subprocess
import sys
from pathlib import Path

import pytest

from lab.core.errors import DataError
from lab.core.files import sha256
from lab.core.outputs import WRITTEN, objection, refuse, write_own

WEIGHTS = Path("models/a.pt")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_labs_own_file_is_replaced_and_another_is_not():
    assert not objection(WEIGHTS), "nothing is there"
    write_own(WEIGHTS, b"one")
    write_own(WEIGHTS, b"two")
    assert WEIGHTS.read_bytes() == b"two"
    assert not objection(WEIGHTS)
    put(WEIGHTS, b"mine")
    assert "models/a.pt" in objection(WEIGHTS)
    assert not objection(WEIGHTS, known={sha256(b"mine")})


def test_a_file_is_noted_before_it_is_written():
    """As a kill between the two leaves them."""
    WEIGHTS.parent.write_bytes(b"no folder")
    with pytest.raises(Exception, match=r"models"):
        write_own(WEIGHTS, b"one")
    WEIGHTS.parent.unlink()
    put(WEIGHTS, b"one")
    assert not objection(WEIGHTS)


@pytest.mark.parametrize("kind", ["a folder", "a link to nothing", "no folder"])
def test_whatever_is_in_the_way_is_named(kind):
    if kind == "a folder":
        WEIGHTS.mkdir(parents=True)
    elif kind == "a link to nothing":
        WEIGHTS.parent.mkdir()
        WEIGHTS.symlink_to("/nowhere")
    else:
        put(WEIGHTS.parent, b"a file")
    with pytest.raises(DataError, match="models"):
        refuse([objection(WEIGHTS)])


def test_a_folder_may_be_a_link_within_the_project_and_not_out_of_it(project, tmp_path_factory):
    (project / "disk").mkdir()
    WEIGHTS.parent.symlink_to("disk")
    assert not objection(WEIGHTS)
    write_own(WEIGHTS, b"one")
    assert not objection(WEIGHTS)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    WEIGHTS.parent.unlink()
    WEIGHTS.parent.symlink_to(elsewhere)
    assert str(elsewhere) in objection(WEIGHTS)
    assert objection(WEIGHTS, instead="export X=1").endswith("export X=1")


@pytest.mark.slow
@pytest.mark.parametrize("link", ["copy", "symlink", "hardlink"])
def test_what_dvc_has_in_its_cache_is_replaced(tmp_path_factory, link):
    """Also in a cache elsewhere, to which the file itself is a link."""
    put(WEIGHTS, b"one")
    cache = tmp_path_factory.mktemp("cache")
    for words in (
        ["init", "--no-scm", "-q"],
        ["config", "cache.type", link],
        ["config", "--local", "cache.dir", str(cache)],
        ["add", "-q", str(WEIGHTS)],
    ):
        subprocess.run([sys.executable, "-m", "dvc", *words], check=True)
    assert WEIGHTS.is_symlink() == (link == "symlink")
    assert not WRITTEN.exists()
    assert not objection(WEIGHTS)
    WEIGHTS.unlink()
    put(WEIGHTS, b"mine")
    assert objection(WEIGHTS)
