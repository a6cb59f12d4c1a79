"""The stage `fetch` as a process: killed, stopped, twice at once, without room, without rights."""

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from lab.core.params import load
from lab.data.datasets import sha256
from lab.data.fetching import download
from stages.fetch.measure.params import Params
from tests.faults.bad_server import LONGEST_S, BadServer, serving
from tests.faults.small_fetch import AIRFOIL, FASHION_FILES, FILES, UNPACKED, write_mirror
from tests.helpers import ROOT, edit_params, write_data

RAW = Path("data/FashionMNIST/raw")
TRAIN_IMAGES = FASHION_FILES[0]
STAGE = (sys.executable, "-m", "stages.fetch")
SMALL = (sys.executable, "-m", "tests.faults.small_fetch")
SMALL_DISK = "mount -t tmpfs -o size=16k none .lab"
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


@pytest.fixture(scope="module")
def server() -> Iterator[BadServer]:
    with serving(FILES) as running:
        yield running


@pytest.fixture
def fetch_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[], object]:
    """The stage's work without a fault, in this process, which is faster than in another one."""
    monkeypatch.setattr(download, "FASHION_FILES", FASHION_FILES)
    monkeypatch.setattr(download, "AIRFOIL", AIRFOIL)
    return lambda: download.fetch(load(Params).data)


def ask(*addresses: str, if_unreachable: str = "fail", timeout_s: int = 20) -> None:
    """Have params.yaml name these mirrors and no others."""
    edit_params(
        {
            "data.mirrors.fashion_mnist": list(addresses),
            "data.mirrors.airfoil": list(addresses),
            "data.if_unreachable": if_unreachable,
            "data.timeout_s": timeout_s,
        }
    )


def start(
    words: Sequence[str],
    env: Mapping[str, str] | None = None,
    before: Callable[[], object] | None = None,
) -> "subprocess.Popen[str]":
    """Start a command, with no proxy and no mirror but those in `env`."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if name != "LAB_DATA_MIRROR" and not name.lower().endswith("_proxy")
    }
    return subprocess.Popen(
        words,
        env=clean | {"PYTHONPATH": str(ROOT)} | dict(env or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def end(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Its exit code and its error, which is one of ours and a single line, or empty."""
    try:
        _, errors = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"{process.args!r} does not end")
    lines = errors.splitlines()
    assert len(lines) <= 1, errors
    assert all(line.startswith("ERROR: ") for line in lines), errors
    return process.returncode, errors


def stop_in_download(number: signal.Signals, server: BadServer) -> int:
    """Send a signal to a fetch that waits for a mirror; its exit code."""
    server.asked.clear()
    # a shell that started the tests in the background has them ignore Ctrl-C
    process = start(SMALL, before=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not server.asked and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    return end(process)[0]


def at_most(size: int) -> Callable[[], None]:
    """Let a process write no file of more than so many bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def may_mount() -> bool:
    """Whether this process may give another one a small disk."""
    words = ["unshare", "-rm", *SMALL_DISK.split()]
    if shutil.which(words[0]) is None:
        return False
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


def no_rights_of_root() -> None:
    """Have the permissions of files hold for this process and its likes, also if root starts it."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            assert libc.prctl(PR_CAPBSET_DROP, right, 0, 0, 0) == 0


def assert_whole(folder: Path) -> None:
    """The data are all there, with the hashes that are recorded, and no part of a file is left."""
    recorded = json.loads((folder / "data" / "source.json").read_text())
    names = {RAW / name.removesuffix(".gz"): name for name in FILES if name.endswith(".gz")}
    names[Path("data/airfoil/airfoil_self_noise.dat")] = "airfoil_self_noise.dat"
    for path, name in names.items():
        content = (folder / path).read_bytes()
        assert content == UNPACKED[name]
        assert recorded["sha256"][path.relative_to("data").as_posix()] == sha256(content)
    assert parts(folder) == []


def parts(folder: Path) -> list[str]:
    """The unfinished files of downloads and of data."""
    downloads = (folder / ".lab" / "downloads").glob("*/*")
    found = [path for path in downloads if path.name not in FILES]
    return [str(path) for path in [*found, *(folder / "data").rglob("*.part-*")]]


def test_mirrors_that_drip_end_within_the_time_that_params_allow(project, server):
    ask(f"{server.address}/drip", f"{server.address}/slow_headers", timeout_s=1)
    started = time.monotonic()
    code, error = end(start(STAGE))
    assert code == 3
    assert error.count("timed out") == 2
    assert time.monotonic() - started < LONGEST_S


def test_kill_9_leaves_nothing_that_passes_for_data_and_the_next_run_sweeps_up(
    project, server, fetch_here
):
    ask(f"{server.address}/stalled")
    assert stop_in_download(signal.SIGKILL, server) == -signal.SIGKILL
    assert parts(project), "which is what the next run sweeps up"
    ask(f"{server.address}/good")
    for moment in ("fsync *train-labels*", "rename data/source.json"):
        process = start(SMALL, env={"LAB_FAIL_POINT": f"{moment}=kill"})
        assert end(process)[0] == -signal.SIGKILL
        assert not (project / "data" / "source.json").exists()
    assert [Path(part).name.split(".part-")[0] for part in parts(project)] == ["source.json"]
    fetch_here()
    assert_whole(project)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_download_that_is_stopped_leaves_no_part(project, server, number, code):
    ask(f"{server.address}/stalled")
    assert stop_in_download(number, server) == code
    assert not (project / "data" / "source.json").exists()
    assert parts(project) == []


def test_fetches_at_once_take_turns(project, server):
    server.asked.clear()
    ask(f"{server.address}/unhurried")
    processes = [start(SMALL) for _ in range(2)]
    assert [end(process) for process in processes] == [(0, "")] * 2
    assert_whole(project)
    assert set(server.asked.values()) == {1}, "the second finds what the first one downloaded"


def test_no_room_is_8_whether_for_the_download_or_for_the_data(project, server, fetch_here):
    ask(f"{server.address}/good", if_unreachable="synthetic")
    (project / ".lab").mkdir()
    if may_mount():
        full = start(["unshare", "-rm", "sh", "-c", f'{SMALL_DISK} && exec "$@"', "sh", *SMALL])
    else:
        full = start(SMALL, before=at_most(10_000))
    code, error = end(full)
    assert code == 8
    assert ".lab/downloads" in error
    fault = {"LAB_FAIL_POINT": "fsync *t10k-images*=no-space"}
    code, error = end(start(SMALL, env=fault))
    assert code == 8
    assert f"{RAW}/t10k-images-idx3-ubyte: no space" in error
    assert parts(project) == []
    fetch_here()
    assert_whole(project)


@pytest.fixture
def anothers(project: Path, server: BadServer) -> Iterator[Path]:
    """A project whose folders may be read and not written, and whose record not even be read."""
    ask(f"{server.address}/good")
    write_data(project / "data", train=20, test=20)
    paths = [project, *project.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    (project / "data" / "source.json").chmod(0)
    yield project
    for path in paths:
        path.chmod(0o755)


def test_the_project_of_another_user_is_4_before_any_download(anothers, server):
    server.asked.clear()
    program = "import sys; from lab.core.process import run; from lab.data import datasets;"
    read = (sys.executable, "-c", f"{program} sys.exit(run(datasets.read_source))")
    reading = start(read, before=no_rights_of_root)
    fetching = start(STAGE, before=no_rights_of_root)
    code, error = end(reading)
    assert code == 4
    assert "data/source.json: cannot be read (Permission denied)" in error
    code, error = end(fetching)
    assert code == 4
    assert "cannot be written (Permission denied; . belongs to " in error
    assert not server.asked


def test_what_has_no_end_is_neither_copied_nor_hashed(project, server):
    ask(f"{server.address}/good")
    kept = project / ".lab" / "downloads" / TRAIN_IMAGES.folder / TRAIN_IMAGES.name
    kept.parent.mkdir(parents=True)
    kept.symlink_to("/dev/zero")
    own = write_mirror(project / "own") / TRAIN_IMAGES.folder / TRAIN_IMAGES.name
    own.unlink()
    own.symlink_to("/dev/zero")
    mirror = {"LAB_DATA_MIRROR": str(project / "own")}
    rather_than_fill_the_disk = at_most(10_000_000)
    assert end(start(SMALL, env=mirror, before=rather_than_fill_the_disk)) == (0, "")
    assert_whole(project)
    assert not kept.is_symlink()


def test_a_record_without_anything_in_it_is_3_and_names_the_cure(project):
    write_data(project / "data")
    (project / "data" / "source.json").write_text("{}")
    code, error = end(start((sys.executable, "-m", "stages.landscapes")))
    assert code == 3
    assert error.startswith("ERROR: data/source.json: ")
    assert "`dvc repro --force fetch`" in error


def test_a_lying_header_allocates_nothing():
    program = """
import resource, struct, numpy, psutil
from lab.data import idx
most = psutil.Process().memory_info().vms + 2**24
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for sizes in ((2**31,) * 3, (2**32 - 1, 2**32 - 1, 1), (2**16, 2**16, 2**32 - 1), (60_000, 28, 28)):
    try:
        idx.decode(struct.pack(">BBBB3I", 0, 0, 8, 3, *sizes) + bytes(64), 3)
    except ValueError as error:
        print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("IDX header promises") == 4
