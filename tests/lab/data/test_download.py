"""Fetching, against a server on loopback that misbehaves in every way a mirror can."""

import contextlib
import gzip
import http.server
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lab.core.errors import DataError, SpaceError
from lab.data import datasets, download, idx, synthetic
from lab.data.download import DataParams, MirrorParams, RemoteFile
from tests.helpers import ROOT

AIRFOIL_TEXT = b"800\t0\t0.3\t71.3\t0.002\t126.2\r\n"


def small_files() -> dict[str, bytes]:
    """Four packed files like Fashion-MNIST's, and an airfoil table of one row."""
    files = {"airfoil_self_noise.dat": AIRFOIL_TEXT}
    for half, count in (("train", 50), ("t10k", 20)):
        images, labels = synthetic.fashion(count, seed=0)
        files[f"{half}-images-idx3-ubyte.gz"] = gzip.compress(idx.encode(images), mtime=0)
        files[f"{half}-labels-idx1-ubyte.gz"] = gzip.compress(idx.encode(labels), mtime=0)
    return files


FILES = small_files()


class Mirror(http.server.BaseHTTPRequestHandler):
    """The first part of a path says how to answer: /good/NAME, /html/NAME, ..."""

    def do_GET(self) -> None:
        _, manner, name = self.path.split("/")
        content = FILES[name]
        getattr(self, f"_{manner}")(content, name)

    def _send(
        self, content: bytes, length: int | None = None, kind: str = "application/octet-stream"
    ) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def _good(self, content: bytes, name: str) -> None:
        self._send(content)

    def _missing(self, content: bytes, name: str) -> None:
        self.send_error(404)

    def _busy(self, content: bytes, name: str) -> None:
        self.send_error(503)

    def _html(self, content: bytes, name: str) -> None:
        self._send(b"<!DOCTYPE html><title>Please log in</title>", kind="text/html")

    def _flipped(self, content: bytes, name: str) -> None:
        self._send(content[:-1] + bytes([content[-1] ^ 1]))

    def _cut(self, content: bytes, name: str) -> None:
        self._send(content[: len(content) // 2], length=len(content))

    def _short(self, content: bytes, name: str) -> None:
        self._send(content[: len(content) // 2])

    def _long(self, content: bytes, name: str) -> None:
        self._send(content + b"x")

    def _endless(self, content: bytes, name: str) -> None:
        self.send_response(200)
        self.end_headers()
        for _ in range(10_000):  # bounded, if the client does not hang up as it should
            self.wfile.write(bytes(2**16))

    def _stalled(self, content: bytes, name: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:10])
        self.wfile.flush()
        time.sleep(3)

    def _loop(self, content: bytes, name: str) -> None:
        self.send_response(302)
        self.send_header("Location", self.path)
        self.end_headers()

    def _elsewhere(self, content: bytes, name: str) -> None:
        self.send_response(302)
        self.send_header("Location", "file:///etc/hostname")
        self.end_headers()

    def handle(self) -> None:
        # the client hung up, as it should
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            super().handle()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(autouse=True)
def small_pins(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pin the small files instead of the published ones."""

    def pin(folder: str, name: str) -> RemoteFile:
        return RemoteFile(folder, name, len(FILES[name]), datasets.sha256(FILES[name]))

    names = [file.name for file in download.FASHION_FILES]
    monkeypatch.setattr(
        download, "FASHION_FILES", tuple(pin("fashion-mnist", name) for name in names)
    )
    monkeypatch.setattr(download, "AIRFOIL", pin("airfoil", "airfoil_self_noise.dat"))
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(variable, raising=False)


def params(*mirrors: str, if_unreachable: str = "fail", timeout_s: float = 1) -> DataParams:
    found = DataParams.model_validate(
        {
            "mirrors": {"fashion_mnist": list(mirrors), "airfoil": list(mirrors)},
            "timeout_s": 1,
            "if_unreachable": if_unreachable,
        }
    )
    return found.model_copy(update={"timeout_s": timeout_s})


def assert_original() -> None:
    assert datasets.read_source() == {"fashion_mnist": "original", "airfoil": "original"}
    train, test = datasets.read_fashion_mnist("train"), datasets.read_fashion_mnist("t10k")
    assert np.array_equal(train.images, synthetic.fashion(50, seed=0)[0])
    assert len(test.labels) == 20
    assert (datasets.DATA / datasets.AIRFOIL_FILE).read_bytes() == AIRFOIL_TEXT


def assert_nothing_half_written(folder: Path) -> None:
    """Nothing passes for data, and no part of a file is left anywhere."""
    assert not (folder / "data" / datasets.SOURCE_FILE).exists()
    kept = [path for path in (folder / ".lab").rglob("*") if path.is_file()]
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


@pytest.mark.parametrize(
    "manner",
    [
        "missing",
        "busy",
        "html",
        "flipped",
        "cut",
        "short",
        "long",
        "endless",
        "stalled",
        "loop",
        "elsewhere",
    ],
)
def test_a_bad_mirror_is_followed_by_the_next(address, manner):
    timeout_s = 0.2 if manner == "stalled" else 1
    download.fetch(params(f"{address}/{manner}", f"{address}/good", timeout_s=timeout_s))
    assert_original()


@pytest.mark.parametrize(
    ("manner", "complaint"),
    [
        ("missing", "HTTP 404"),
        ("busy", "HTTP 503"),
        ("html", "got a web page, first bytes b'<!DOCTYPE html>"),
        ("flipped", "hash"),
        ("cut", "bytes"),
        ("short", "ended after"),
        ("long", "longer than the published"),
        ("endless", "longer than the published"),
        ("stalled", "timed out"),
        ("loop", "redirects"),
        ("elsewhere", "file"),
    ],
)
def test_bad_mirrors_alone_end_with_what_was_found_and_what_to_do(
    project, address, manner, complaint
):
    with pytest.raises(DataError) as error:
        download.fetch(params(f"{address}/{manner}"))
    message = str(error.value)
    assert complaint in message
    assert "LAB_DATA_MIRROR" in message
    assert "\n" not in message
    assert error.value.exit_code == 3
    assert_nothing_half_written(project)


@pytest.mark.parametrize("manner", ["html", "flipped", "long"])
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
    with pytest.raises(DataError, match="no connection"):
        download.fetch(params("http://mirror.invalid"))


def test_ones_own_folder_comes_first(tmp_path, monkeypatch):
    mirror = tmp_path / "with space"
    for file in (*download.FASHION_FILES, download.AIRFOIL):
        (mirror / file.folder).mkdir(parents=True, exist_ok=True)
        (mirror / file.folder / file.name).write_bytes(FILES[file.name])
    monkeypatch.setenv(download.MIRROR_VARIABLE, str(mirror))
    download.fetch(params("http://127.0.0.1:1"))
    assert_original()
    assert len(list(mirror.rglob("*.*"))) == 5, "the mirror is only read"


def test_a_folder_without_the_files_is_followed_by_the_mirrors(tmp_path, monkeypatch, address):
    monkeypatch.setenv(download.MIRROR_VARIABLE, str(tmp_path / "nowhere"))
    download.fetch(params(f"{address}/good"))
    assert_original()


@pytest.mark.parametrize("folder", ["data", ".lab/downloads"])
def test_a_folder_that_cannot_be_written_is_said_before_any_download(project, folder):
    (project / folder).parent.mkdir(exist_ok=True)
    (project / folder).write_text("a file where the folder should be")
    with pytest.raises(DataError, match="cannot be written"):
        download.fetch(params("http://127.0.0.1:1", if_unreachable="synthetic"))


def test_a_full_disk_is_not_a_mirror_out_of_reach(monkeypatch, address):
    def full(self: object, response: object, path: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(download._Reader, "_save", full)
    with pytest.raises(SpaceError):
        download.fetch(params(f"{address}/good", if_unreachable="synthetic"))


def test_kill_9_at_any_file_leaves_nothing_wrong_and_the_next_run_succeeds(project, address):
    program = f"""
import os, signal, sys
from lab.data import download
from lab.data.download import DataParams, RemoteFile
download.FASHION_FILES = {download.FASHION_FILES!r}
download.AIRFOIL = {download.AIRFOIL!r}
write, count = download.write_atomically, [0]
def dying(path, content):
    count[0] += 1
    if count[0] == int(sys.argv[1]):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(path.name + ".part-1-x").write_bytes(content[:7])
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, content)
download.write_atomically = dying
download.fetch(DataParams(**{params(f"{address}/good").model_dump()!r}))
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    for kill_at in ("1", "3", "5"):
        command = [sys.executable, "-c", program, kill_at]
        result = subprocess.run(command, check=False, timeout=60, env=environment)
        assert result.returncode == -signal.SIGKILL
        assert_nothing_half_written(project)
    download.fetch(params(f"{address}/good"))
    assert_original()


def test_the_mirrors_of_params_yaml_are_https_first():
    import lab.core.params
    from stages.fetch.params import Params

    mirrors: MirrorParams = lab.core.params.load(Params).data.mirrors
    for urls in (mirrors.fashion_mnist, mirrors.airfoil):
        schemes = [url.split(":")[0] for url in urls]
        assert schemes == sorted(schemes, reverse=True)
        assert schemes[0] == "https"
