"""Sources of data, and what happens if a source has none or the wrong ones."""

import functools
import gzip
import hashlib
import os
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from lab.core.errors import DataError
from lab.core.params import load
from lab.data import datasets, idx, sources, synthetic
from lab.data.sources import AIRFOIL, FASHION_FILES, FASHION_FOLDERS, RemoteFile
from stages.fetch.measure import download
from stages.fetch.measure.params import Params
from tests.helpers import edit_params, files

TABLE = b"800\t0\t0.3\t71.3\t0.002\t126.2\n"


def publish(folder, places, name, content):
    """Put a file into a mirror, gzipped if its name says so, and return its pins."""
    packed = gzip.compress(content) if name.endswith(".gz") else content
    put(folder / places[0] / name, packed)
    pins = [hashlib.sha256(each).hexdigest() for each in (packed, content)]
    return RemoteFile(places, name, len(packed), *pins)


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def lay_out(mirror, root, packed=False, unpacked=False):
    """Put the mirror's data under a root as torchvision does, packed, unpacked or both."""
    for file in (*download.FASHION_FILES, download.AIRFOIL):
        content, folder = (mirror / file.folders[0] / file.name).read_bytes(), file.folders[-1]
        if unpacked or file is download.AIRFOIL:
            put(root / folder / file.path.name, file.unpacked(content))
        if packed:
            put(root / folder / file.name, content)


@pytest.fixture
def mirror(tmp_path_factory, project, monkeypatch):
    """Return a mirror with small data sets that the code takes for the published ones."""
    folder = tmp_path_factory.mktemp("mirror")
    images, labels = synthetic.fashion(20, seed=1)
    published = [
        publish(folder, FASHION_FOLDERS, f"{half}-{kind}-ubyte.gz", idx.encode(array))
        for half in ("train", "t10k")
        for kind, array in (("images-idx3", images), ("labels-idx1", labels))
    ]
    table = publish(folder, AIRFOIL.folders, AIRFOIL.name, TABLE)
    for module in (download, sources):
        monkeypatch.setattr(module, "FASHION_FILES", published)
        monkeypatch.setattr(module, "AIRFOIL", table)
    monkeypatch.setattr(download, "FASHION_COUNTS", {"train": 30, "t10k": 10})
    monkeypatch.setattr(datasets, "FASHION_COUNTS", {"train": 30, "t10k": 10})
    monkeypatch.delenv("LAB_DATA_MIRROR", raising=False)
    return folder


@pytest.fixture
def address(mirror):
    """Serve the mirror on the loopback address, and yield its URL."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=mirror)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def fetch(**changes):
    """Fetch with these params; without mirrors if they name none."""
    nowhere = {"data.mirrors.fashion_mnist": [], "data.mirrors.airfoil": []}
    edit_params(nowhere | {f"data.{key}": value for key, value in changes.items()})
    return download.fetch(load(Params).data)


def test_the_users_own_mirror_comes_first(mirror, monkeypatch):
    monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror))
    assert set(fetch().values()) == {"original"}
    assert len(datasets.read_fashion_mnist("train").images) == 20
    assert datasets.read_airfoil().shape == (1, 6)
    assert sources.sources(AIRFOIL, ["https://a/"])[-1] == "https://a/airfoil_self_noise.dat"


def test_mirrors_in_params_are_tried_in_order(mirror, address):
    found = fetch(
        **{
            "mirrors.fashion_mnist": [f"{address}/nothing", f"{address}/fashion-mnist"],
            "mirrors.airfoil": [f"{address}/airfoil"],
        }
    )
    assert set(found.values()) == {"original"}
    assert datasets.read_source() == found


def test_look_alikes_are_drawn_if_no_mirror_answers(mirror, caplog):
    assert set(fetch().values()) == {"synthetic"}
    assert "SYNTHETIC" in caplog.text
    assert len(datasets.read_fashion_mnist("train").images) == 30


def test_no_source_is_an_error_if_params_say_so_or_the_user_names_a_mirror(mirror, monkeypatch):
    with pytest.raises(DataError, match=r"train-images.*LAB_DATA_MIRROR"):
        fetch(if_unreachable="fail")
    assert not (datasets.DATA / datasets.SOURCE_FILE).exists()
    (mirror / "airfoil/airfoil_self_noise.dat").unlink()
    monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror))
    with pytest.raises(DataError, match=r"airfoil_self_noise\.dat"):
        fetch(if_unreachable="synthetic")


def test_half_fetched_data_have_no_source(mirror, monkeypatch):
    """Otherwise published images would pass for the look-alikes that they replaced."""
    fetch()
    put(mirror / "airfoil/airfoil_self_noise.dat", b"<html>log in</html>")
    monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror))
    with pytest.raises(download.WrongContentError):
        fetch()
    assert len(datasets.read_fashion_mnist("train").images) == 20, "the published ones"
    assert not (datasets.DATA / datasets.SOURCE_FILE).exists()


@pytest.mark.parametrize("way", ["a folder", "an address"])
def test_wrong_bytes_are_never_replaced_by_look_alikes(mirror, address, monkeypatch, way):
    put(mirror / "fashion-mnist/train-labels-idx1-ubyte.gz", b"<html>log in</html>")
    changes = {}
    if way == "a folder":
        monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror))
    else:
        changes = {"mirrors.fashion_mnist": [f"{address}/fashion-mnist"]}
    with pytest.raises(download.WrongContentError, match="train-labels"):
        fetch(**changes)
    assert not (datasets.DATA / datasets.SOURCE_FILE).exists()


def test_an_interrupted_download_leaves_no_file(mirror, address, monkeypatch):
    def broken(*_, **__):
        raise requests.ConnectionError("reset by peer")

    monkeypatch.setattr("requests.models.Response.iter_content", broken)
    assert fetch(**{"mirrors.airfoil": [f"{address}/airfoil"]})["airfoil"] == "synthetic"
    assert not [path for path in download.DOWNLOADS.rglob("*") if path.is_file()]


FORMS = [{"unpacked": True}, {"packed": True}, {"packed": True, "unpacked": True}]


@pytest.mark.parametrize("form", FORMS)
def test_a_users_published_files_are_used_and_left_unchanged(mirror, form):
    lay_out(mirror, datasets.DATA, **form)
    put(datasets.DATA / datasets.RAW_FOLDER / "my_notes.txt", b"mine")
    before = state(datasets.DATA)
    assert set(fetch().values()) == {"original"}, "without any source"
    assert len(datasets.read_fashion_mnist("train").images) == 20
    assert before.items() <= state(datasets.DATA).items()


@pytest.mark.parametrize("form", FORMS)
def test_the_users_mirror_may_be_torchvisions_root(mirror, tmp_path, monkeypatch, form):
    lay_out(mirror, tmp_path / "torchvision", **form)
    monkeypatch.setenv("LAB_DATA_MIRROR", str(tmp_path / "torchvision"))
    assert set(fetch().values()) == {"original"}
    assert len(datasets.read_fashion_mnist("train").images) == 20


@pytest.mark.parametrize("form", FORMS[:2])
def test_look_alikes_never_complete_partial_published_data(mirror, monkeypatch, form):
    lay_out(mirror, datasets.DATA, **form)
    [one] = datasets.DATA.rglob("train-labels*")
    one.unlink()
    before = state(datasets.DATA)
    with pytest.raises(DataError, match="train-labels"):
        fetch()
    assert state(datasets.DATA) == before
    monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror))
    assert set(fetch().values()) == {"original"}, "what lacks is brought"


@pytest.mark.parametrize("name", ["train-labels-idx1-ubyte", "airfoil_self_noise.dat"])
def test_a_users_own_file_is_kept_next_to_the_published_one(mirror, monkeypatch, caplog, name):
    lay_out(mirror, datasets.DATA, unpacked=True)
    [one] = datasets.DATA.rglob(name)
    one.write_bytes(b"mine")
    before = state(datasets.DATA)
    monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror))
    assert set(fetch().values()) == {"original"}
    after = state(datasets.DATA)
    kept = f"{one.relative_to(datasets.DATA)}.1"
    assert after[kept] == before.pop(kept.removesuffix(".1"))
    assert before.items() <= after.items()
    assert f"{one} was not written by the lab; it is kept as {one}.1" in caplog.text


@pytest.mark.parametrize("link", ["data", "data/FashionMNIST", "data/FashionMNIST/raw"])
def test_nothing_is_written_through_a_link_out_of_the_project(
    mirror, project, tmp_path_factory, monkeypatch, link
):
    course = tmp_path_factory.mktemp("course")
    lay_out(mirror, course, unpacked=True)
    before = state(course)
    (project / link).parent.mkdir(parents=True, exist_ok=True)
    (project / link).symlink_to(course / Path(link).relative_to("data"))
    with pytest.raises(DataError, match=f"{link}: a link to .*LAB_DATA_MIRROR="):
        fetch()
    assert state(course) == before
    (project / link).unlink()
    monkeypatch.setenv("LAB_DATA_MIRROR", str(course))
    assert set(fetch().values()) == {"original"}


def test_published_data_replace_the_labs_own_look_alikes(mirror, monkeypatch):
    fetch()
    (datasets.DATA / datasets.SOURCE_FILE).unlink()  # as after a kill before the end
    assert set(fetch().values()) == {"synthetic"}
    monkeypatch.setenv("LAB_DATA_MIRROR", str(mirror))
    assert set(fetch().values()) == {"original"}


def state(folder):
    """Return what must not change in a folder's files: bytes, inode, mode and time."""
    found = {name: (folder / name).stat() for name in files(folder)}
    return {
        name: ((folder / name).read_bytes(), stat.st_ino, stat.st_mode, stat.st_mtime_ns)
        for name, stat in found.items()
    }


def test_the_pins_match_the_published_files():
    """SHA-256 of the files whose MD5 torchvision pins."""
    mirror = Path(os.environ.get("LAB_DATA_MIRROR", "none"))
    if not mirror.is_dir():
        pytest.skip("needs the data")
    for file in (*FASHION_FILES, AIRFOIL):
        found = (mirror / file.folders[0] / file.name).read_bytes()
        assert (len(found), hashlib.sha256(found).hexdigest()) == (file.size, file.sha256)
        content = gzip.decompress(found) if file in FASHION_FILES else found
        assert hashlib.sha256(content).hexdigest() == file.unpacked_sha256
