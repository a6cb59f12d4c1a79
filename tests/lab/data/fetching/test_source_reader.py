"""Reading one file, from a server on loopback that misbehaves in every way a mirror can."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.data.fetching import source_reader
from lab.data.fetching.source_reader import (
    UnreachableError,
    WrongAnswerError,
    read_address,
    read_folder,
)
from tests.faults.bad_server import LONGEST_S, BadServer, black_hole, serving

NAME = "file.gz"
CONTENT = b"\x1f\x8b" + bytes(range(256)) * 40
SIZE = len(CONTENT)


@pytest.fixture(scope="module")
def server() -> Iterator[BadServer]:
    with serving({NAME: CONTENT}) as running:
        yield running


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_reader, "BACKOFF_S", 0.01)
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@contextlib.contextmanager
def ends_before_the_server_does() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < LONGEST_S / 2


@pytest.mark.parametrize(
    "manner",
    [
        "good",
        "chunked",
        "moved",
        pytest.param("moved_endlessly"),
        pytest.param("packed"),
        pytest.param("labelled"),
        pytest.param("busy_twice"),
        pytest.param("cut_once"),
    ],
)
def test_the_files_bytes_arrive(server, manner):
    server.asked.clear()
    with ends_before_the_server_does():
        assert read_address(f"{server.address}/{manner}/{NAME}", SIZE, timeout_s=20) == CONTENT


def test_a_server_that_asks_for_a_second_gets_it(server):
    server.asked.clear()
    started = time.monotonic()
    assert read_address(f"{server.address}/limited_once/{NAME}", SIZE, timeout_s=20) == CONTENT
    assert time.monotonic() - started >= 1
    assert server.asked["limited_once", NAME] == 2


@pytest.mark.parametrize(
    ("manner", "complaint", "tries"),
    [
        pytest.param("missing", "HTTP 404", 1),
        pytest.param("forbidden", "HTTP 403", 1),
        pytest.param("busy", "HTTP 503, in try 3 of 3", 3),
        pytest.param("closed_for_an_hour", "HTTP 503, in try 1", 1),
        pytest.param("cut", "broke off after", 3),
        pytest.param("short", "ended after 5121 of", 3),
        pytest.param("silent", "timed out", 1),
        pytest.param("stalled", "timed out", 1),
        pytest.param("drip", "timed out", 1),
        pytest.param("slow_headers", "timed out", 1),
    ],
)
def test_a_source_that_does_not_give_the_file_is_given_up(server, manner, complaint, tries):
    server.asked.clear()
    timeout_s = 0.2 if complaint == "timed out" else 20
    with ends_before_the_server_does(), pytest.raises(UnreachableError, match=complaint):
        read_address(f"{server.address}/{manner}/{NAME}", SIZE, timeout_s)
    assert server.asked[manner, NAME] == tries


@pytest.mark.parametrize(
    ("manner", "complaint"),
    [
        pytest.param("html", "a web page .*'<!DOCTYPE html>"),
        pytest.param("disguised_html", "a web page .*<!DOCTYPE html>"),
        pytest.param("long", "longer than the published"),
        pytest.param("loop", "redirects more than"),
        pytest.param("elsewhere", "file://, which is no http"),
        pytest.param("nowhere", "no address"),
    ],
)
def test_an_answer_that_is_not_the_file_is_refused(server, manner, complaint):
    with pytest.raises(WrongAnswerError, match=complaint):
        read_address(f"{server.address}/{manner}/{NAME}", SIZE, timeout_s=20)


def test_an_endless_answer_costs_no_more_memory_than_the_file(server):
    tracemalloc.start()
    with pytest.raises(WrongAnswerError, match="longer than the published"):
        read_address(f"{server.address}/endless/{NAME}", SIZE, timeout_s=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_an_address_that_answers_nobody_is_given_up(monkeypatch):
    monkeypatch.setattr(source_reader, "CONNECT_S", 100)
    with black_hole() as address, pytest.raises(UnreachableError, match="timed out"):
        read_address(f"{address}/good/{NAME}", SIZE, timeout_s=0.2)


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("http://127.0.0.1:1", "no connection .Connection refused"),
        ("http://nope.invalid", "no connection|timed out"),  # as the resolver likes
    ],
)
def test_nobody_there_is_said(address, complaint):
    with pytest.raises(UnreachableError, match=complaint):
        read_address(f"{address}/good/{NAME}", SIZE, timeout_s=20)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_dead_proxy_is_named_without_its_password(monkeypatch, variable):
    monkeypatch.setenv(variable, "http://me:secret@127.0.0.1:1")
    with pytest.raises(UnreachableError) as error:
        read_address(f"http://mirror.example/good/{NAME}", SIZE, timeout_s=20)
    assert f"through the proxy in {variable}" in str(error.value)
    assert "secret" not in str(error.value)


def test_a_proxy_that_drips_is_named_too(server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.address)
    with ends_before_the_server_does(), pytest.raises(UnreachableError, match="http_proxy"):
        read_address(f"http://mirror.example/drip/{NAME}", SIZE, timeout_s=0.2)


def test_a_mirror_elsewhere_cannot_point_into_the_readers_own_network(server, monkeypatch):
    """The server plays the proxy through which that mirror is reached."""
    monkeypatch.setenv("http_proxy", server.address)
    assert read_address(f"http://mirror.example/moved/{NAME}", SIZE, timeout_s=20) == CONTENT
    with pytest.raises(WrongAnswerError, match=r"127\.0\.0\.1, which is in a private network"):
        read_address(f"http://mirror.example/home/{NAME}", SIZE, timeout_s=20)


@pytest.fixture
def https(tmp_path: Path) -> Iterator[BadServer]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and is not installed")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    words = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -out {certificate} -keyout {key}"
    name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*words.split(), *name], check=True, capture_output=True)
    with serving({NAME: CONTENT}, certificate, key) as running:
        yield running


def test_a_certificate_is_trusted_or_refused_and_https_stays_https(https, tmp_path, monkeypatch):
    with pytest.raises(WrongAnswerError, match=r"certificate is not accepted.*clock or CA"):
        read_address(f"{https.address}/good/{NAME}", SIZE, timeout_s=20)
    assert not https.asked
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "certificate.pem"))
    assert read_address(f"{https.address}/good/{NAME}", SIZE, timeout_s=20) == CONTENT
    with pytest.raises(WrongAnswerError, match="not https"):
        read_address(f"{https.address}/home/{NAME}", SIZE, timeout_s=20)


def test_a_file_of_a_folder_is_read(tmp_path):
    (tmp_path / NAME).write_bytes(CONTENT)
    assert read_folder(tmp_path / NAME, SIZE) == CONTENT


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("pipe", "not a regular"), ("zeros", "not a regular"), (".", "not a r"), ("none", "no such")],
)
def test_what_is_no_file_is_not_read(tmp_path, name, complaint):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    signal.alarm(10)  # rather than for ever
    with pytest.raises(UnreachableError, match=complaint):
        read_folder(tmp_path / name, SIZE)
    signal.alarm(0)


def test_a_huge_file_is_read_no_further_than_its_published_size(tmp_path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(WrongAnswerError, match=f"longer than the published {SIZE}"):
        read_folder(tmp_path / "huge", SIZE)


def test_a_mistake_of_ours_is_not_a_source_out_of_reach(server, monkeypatch):
    monkeypatch.setattr(source_reader, "_answer", lambda url, timeout_s: {}["ours"])
    with pytest.raises(KeyError):
        read_address(f"{server.address}/good/{NAME}", SIZE, timeout_s=20)
