"""Fetching, from a server on loopback that misbehaves, from folders, and from nowhere.

`test_source_reader.py` has what a single file meets, `tests/faults/test_fetch.py` whole processes.
"""

import gzip
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from lab.core.errors import DataError
from lab.data import datasets, synthetic
from lab.data.fetching import download, source_reader
from lab.data.fetching.sources import MIRROR_VARIABLE, DataParams, MirrorParams, RemoteFile
from tests.faults.bad_server import serving
from tests.faults.small_fetch import AIRFOIL, AIRFOIL_TEXT, FASHION_FILES, FILES, write_mirror


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(FILES) as server:
        yield server.address


@pytest.fixture(autouse=True)
def small_pins(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pin the small files instead of the published ones."""
    monkeypatch.setattr(download, "FASHION_FILES", FASHION_FILES)
    monkeypatch.setattr(download, "AIRFOIL", AIRFOIL)
    monkeypatch.setattr(source_reader, "BACKOFF_S", 0.01)
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(variable, raising=False)


def params(*mirrors: str, if_unreachable: str = "fail") -> DataParams:
    return DataParams.model_validate(
        {
            "mirrors": {"fashion_mnist": list(mirrors), "airfoil": list(mirrors)},
            "timeout_s": 20,
            "if_unreachable": if_unreachable,
        }
    )


def assert_original() -> None:
    assert datasets.read_source() == {"fashion_mnist": "original", "airfoil": "original"}
    train, test = datasets.read_fashion_mnist("train"), datasets.read_fashion_mnist("t10k")
    assert np.array_equal(train.images, synthetic.fashion(50, seed=0)[0])
    assert len(test.labels) == 20
    assert (datasets.DATA / datasets.AIRFOIL_FILE).read_bytes() == AIRFOIL_TEXT


def assert_nothing_half_written(folder: Path) -> None:
    """Nothing passes for data, and no part of a file is left anywhere."""
    assert not (folder / "data" / datasets.SOURCE_FILE).exists()
    kept = [path for path in (folder / ".lab" / "downloads").rglob("*") if path.is_file()]
    assert all(path.read_bytes() == FILES[path.name] for path in kept)


def test_a_good_mirror_gives_the_originals(address):
    assert download.fetch(params(f"{address}/good")) == {
        "fashion_mnist": "original",
        "airfoil": "original",
    }
    assert_original()


def test_what_was_downloaded_once_is_not_downloaded_again(address):
    download.fetch(params(f"{address}/good"))
    download.fetch(params(f"{address}/missing"))
    assert_original()


BAD = {  # how a mirror answers, and what is said of it
    "missing": "HTTP 404",
    "busy": "HTTP 503",
    "html": "got a web page",
    "disguised_html": "got a web page",
    "flipped": "its SHA-256 is",
    "cut": "broke off after",
    "short": "ended after",
    "long": "longer than the published",
    "endless": "longer than the published",
    "loop": "redirects",
    "elsewhere": "file",
}
WRONG = {"html", "disguised_html", "flipped", "long", "endless", "loop", "elsewhere"}


@pytest.mark.parametrize("manner", BAD)
def test_a_bad_mirror_is_followed_by_the_next(address, manner):
    download.fetch(params(f"{address}/{manner}", f"{address}/good"))
    assert_original()


def test_a_stalled_mirror_is_followed_by_the_next(address):
    mirrors = [f"{address}/stalled", f"{address}/good"]
    assert download._download(AIRFOIL, mirrors, timeout_s=0.5) == AIRFOIL_TEXT


@pytest.mark.parametrize("manner", BAD)
def test_bad_mirrors_alone_end_with_what_was_found_and_what_to_do(project, address, manner):
    with pytest.raises(DataError) as error:
        download.fetch(params(f"{address}/{manner}"))
    message = str(error.value)
    assert BAD[manner] in message
    assert f"{address}/{manner}/{FASHION_FILES[0].name}: " in message
    assert "point LAB_DATA_MIRROR at a folder" in message
    assert "\n" not in message
    assert error.value.exit_code == 3
    assert isinstance(error.value, download.WrongContentError) == (manner in WRONG)
    assert_nothing_half_written(project)


def test_a_wrong_hash_is_shown_beside_the_right_one(address):
    file = FASHION_FILES[0]
    content = FILES[file.name]
    flipped = datasets.sha256(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DataError, match=f"SHA-256 is {flipped}, expected {file.sha256}"):
        download.fetch(params(f"{address}/flipped"))


@pytest.mark.parametrize("manner", ["flipped", "disguised_html"])
def test_wrong_content_is_never_replaced_by_look_alikes(project, address, manner):
    with pytest.raises(download.WrongContentError):
        download.fetch(params(f"{address}/{manner}", if_unreachable="synthetic"))
    assert_nothing_half_written(project)


@pytest.mark.parametrize("mirrors", [[], ["http://127.0.0.1:1"], ["http://nope.invalid"]])
def test_out_of_reach_gives_labelled_look_alikes(monkeypatch, mirrors):
    monkeypatch.setattr(download, "FASHION_COUNTS", {"train": 30, "t10k": 10})
    source = download.fetch(params(*mirrors, if_unreachable="synthetic"))
    assert (
        source == datasets.read_source() == {"fashion_mnist": "synthetic", "airfoil": "synthetic"}
    )
    assert datasets.dataset_name() == "synthetic"
    assert datasets.read_fashion_mnist("train").images.shape == (30, 28, 28)
    assert datasets.read_airfoil().shape == (1503, 6)


def test_out_of_reach_fails_where_the_params_say_so(project):
    with pytest.raises(DataError, match="no connection"):
        download.fetch(params("http://127.0.0.1:1"))
    assert_nothing_half_written(project)


def test_a_dead_proxy_is_out_of_reach(project, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with pytest.raises(DataError, match=r"no connection .* through the proxy in HTTP_PROXY"):
        download.fetch(params("http://mirror.invalid"))


def test_ones_own_folder_comes_first(tmp_path, monkeypatch):
    mirror = write_mirror(tmp_path / "with space")
    monkeypatch.setenv(MIRROR_VARIABLE, str(mirror))
    download.fetch(params("http://127.0.0.1:1"))
    assert_original()
    assert {path.name: path.read_bytes() for path in mirror.rglob("*.*")} == FILES, "it is read"


def test_ones_own_address_comes_first(address, monkeypatch):
    monkeypatch.setenv(MIRROR_VARIABLE, f" {address.replace('http', 'HTTP')}/good/ ")
    download.fetch(params("http://127.0.0.1:1"))
    assert_original()


def test_a_folder_without_the_files_is_followed_by_the_mirrors(tmp_path, monkeypatch, address):
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path / "nowhere"))
    download.fetch(params(f"{address}/good"))
    assert_original()


@pytest.mark.parametrize(
    ("own", "complaint"),
    [
        ("~/nowhere", f"{Path.home()}/nowhere/fashion-mnist/.*: no such file"),
        ("FILE:///nowhere", ": no such file"),
        ("ftp://host/x", "LAB_DATA_MIRROR: expected a folder or an address .*, got ftp://"),
        ("partial", "airfoil_self_noise.dat: no source has it .*partial/airfoil/.*: no such file"),
    ],
)
def test_look_alikes_never_stand_in_for_a_mirror_that_was_named(
    project, monkeypatch, own, complaint
):
    write_mirror(project / "partial")
    (project / "partial" / "airfoil" / "airfoil_self_noise.dat").unlink()
    monkeypatch.setenv(MIRROR_VARIABLE, own)
    with pytest.raises(DataError, match=complaint):
        download.fetch(params("http://127.0.0.1:1", if_unreachable="synthetic"))
    assert_nothing_half_written(project)


def test_a_stale_copy_of_ones_own_is_said_and_left_alone(project, monkeypatch):
    mirror = write_mirror(project / "mirror")
    table = mirror / "airfoil" / "airfoil_self_noise.dat"
    stale = table.read_bytes().replace(b"\r\n", b"\n")
    table.write_bytes(stale)
    monkeypatch.setenv(MIRROR_VARIABLE, str(mirror))
    with pytest.raises(download.WrongContentError, match=f"{table}: its SHA-256 is"):
        download.fetch(params())
    assert table.read_bytes() == stale
    assert_nothing_half_written(project)


@pytest.mark.parametrize("folder", ["data", ".lab/downloads", "data/airfoil"])
def test_a_file_where_a_folder_should_be_is_said_before_any_download(project, folder):
    (project / folder).parent.mkdir(exist_ok=True)
    (project / folder).write_text("a file where the folder should be")
    with pytest.raises(DataError, match=f"{folder}.* is no folder"):
        download.fetch(params("http://127.0.0.1:1", if_unreachable="synthetic"))


def test_a_fetch_that_does_not_end_is_not_waited_for_for_ever(address, monkeypatch):
    monkeypatch.setattr(download, "LONGEST_WAIT_S", 0.1)
    download.DOWNLOADS.mkdir(parents=True)
    with (
        FileLock(download.LOCK_FILE),
        pytest.raises(DataError, match=r"another process fetches for over 0.1 s; stop it"),
    ):
        download.fetch(params(f"{address}/good"))


@pytest.mark.parametrize("folder", ["data", "data/FashionMNIST", ".lab", ".lab/downloads"])
def test_a_link_that_leads_out_of_the_project_is_refused(
    project, address, tmp_path_factory, folder
):
    outside = tmp_path_factory.mktemp("outside")
    (project / folder).parent.mkdir(exist_ok=True)
    (project / folder).symlink_to(outside)
    with pytest.raises(DataError, match=f"leads to {outside}"):
        download.fetch(params(f"{address}/good"))
    assert list(outside.iterdir()) == []


def test_what_links_point_at_is_not_written_to(project, address):
    canary = project / "canary"
    canary.write_text("alive")
    for name in (
        f".lab/downloads/fashion-mnist/{FASHION_FILES[1].name}",
        "data/FashionMNIST/raw/train-labels-idx1-ubyte",
        "data/airfoil/airfoil_self_noise.dat",
        "data/source.json",
    ):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).symlink_to(canary)
    download.fetch(params(f"{address}/good"))
    assert_original()
    assert canary.read_text() == "alive"


def test_pinned_names_stay_in_their_folders():
    for file in (*FASHION_FILES, AIRFOIL):
        assert {Path(file.name).name, Path(file.folder).name} == {file.name, file.folder}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (gzip.compress(bytes(100_000_000), 1), "expected 1000 bytes in it"),
        (gzip.compress(gzip.compress(bytes(1000))), "expected 1000 bytes in it"),
        (gzip.compress(bytes(1000))[:-9], "expected 1000 bytes in it"),
        (gzip.compress(bytes(1000))[:-8] + bytes(8), "incorrect data check"),
        (bytes(1000), "incorrect header check"),
    ],
    ids=["bomb", "nested", "cut", "damaged", "not packed"],
)
def test_no_more_is_unpacked_than_should_be_there(content, complaint):
    file = RemoteFile("f", "x.gz", len(content), 1000, datasets.sha256(content))
    tracemalloc.start()
    with pytest.raises(download.WrongContentError, match=f"x.gz: damaged gzip .*{complaint}"):
        download.unpacked(content, file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_the_mirrors_of_params_yaml_are_https_first():
    import lab.core.params
    from stages.fetch.measure.params import Params

    mirrors: MirrorParams = lab.core.params.load(Params).data.mirrors
    for urls in (mirrors.fashion_mnist, mirrors.airfoil):
        schemes = [url.split(":")[0] for url in urls]
        assert schemes == sorted(schemes, reverse=True)
        assert schemes[0] == "https"
