"""Nobody is let in: what the code must not call, who listens, and what pages and params admit."""

import ast
import contextlib
import logging
import os
import re
import shlex
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest
import torch
from dvc.parsing.interpolate import to_str
from pydantic import ValidationError

from lab.core.params import read_yaml
from lab.core.shared_params import BenchParams, DistributedParams
from lab.machine.devices import Devices
from lab.parallel import launch
from lab.parallel.allreduce_times import Arm, time_among_ranks
from lab.parallel.cost_model import RING
from lab.training.run_params import TrainParams
from stages.probe.__main__ import params_models
from tests.helpers import ROOT

# what runs what it reads, or a shell; nothing here needs it
FORBIDDEN = {
    *(
        "eval",
        "exec",
        "os.system",
        "os.popen",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
    ),
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads"),
    *("shelve.open", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "joblib.load"),
    *("torch.hub.load", "torch.package.PackageImporter", "tempfile.mktemp"),
    *("tarfile.open", "shutil.unpack_archive"),
    *(  # these unpickle what another rank sends
        f"torch.distributed.{name}"
        for name in (
            *("all_gather_object", "gather_object", "broadcast_object_list"),
            *("scatter_object_list", "recv_object_list"),
        )
    ),
}
REQUESTS = {f"requests.{verb}" for verb in ("get", "head", "post", "put", "request", "options")}
MAY_EXECUTE = ("stages/bench_compile/program_t",)  # its own constants: what it measures
WALL_CLOCKS = {"time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow"}
# which compare it with files' times, tell it to torch, or look for jumps of it
MAY_READ_THE_WALL_CLOCK = ("lab/core/exit_codes.py", "lab/tools/doctor/", "lab/timing/readings.py")

LISTEN = "0A"  # as the kernel writes it


def violations(source: str, path: str) -> list[str]:
    """What a module calls that it must not, by its line."""
    tree = ast.parse(source)
    names = imported_names(tree)
    found = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and (wrong := wrong_with(call, names, path)):
            found.append(f"{path}:{call.lineno}: {wrong}")
    return found


def imported_names(tree: ast.AST) -> dict[str, str]:
    """What each imported name stands for, in full: `sh` for `os.system`."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0]
                for a in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def wrong_with(call: ast.Call, names: dict[str, str], path: str) -> str:
    """What is wrong with a call, if anything is."""
    if path.startswith(MAY_EXECUTE) and ast.unparse(call.func) == "exec":
        return ""
    first, *rest = ast.unparse(call.func).split(".")
    # a variable's own method is no module's function
    name = ".".join([names.get(first, first if not rest else f"{first}()"), *rest])
    keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    problems = {
        "it runs what it reads": name in FORBIDDEN,
        "without weights_only=True": name == "torch.load"
        and keywords.get("weights_only") != "True",
        "pickles": keywords.get("allow_pickle", "False") != "False",
        "a shell": keywords.get("shell", "False") != "False",
        "unsafe YAML": name.endswith("YAML") and "unsafe" in keywords.get("typ", ""),
        "without formats=": name == "PIL.Image.open" and "formats" not in keywords,
        "without timeout=": (name in REQUESTS or first == "session")
        and keywords.get("timeout", "None") == "None",
        "certificates unchecked": keywords.get("verify", "True") != "True",
        "unpacks names it was given": rest[-1:] in (["extractall"], ["extract"]),
        "a clock that people set": name in WALL_CLOCKS
        and not path.startswith(MAY_READ_THE_WALL_CLOCK),
    }
    return next((f"{name}: {what}" for what, is_so in problems.items() if is_so), "")


def test_the_code_runs_nothing_that_it_reads():
    files = [ROOT / "tasks.py", *(ROOT / "lab").rglob("*.py"), *(ROOT / "stages").rglob("*.py")]
    found = [
        wrong
        for file in files
        for wrong in violations(file.read_text(), file.relative_to(ROOT).as_posix())
    ]
    assert len(files) > 100
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.load(f)",
        "import torch\ntorch.load(f, weights_only=False)",
        "import torch\ntorch.load(f, weights_only=trusted)",
        "from torch import load\nload(f)",
        "import torch as t\nt.load(f)",
        "import pickle\npickle.loads(b)",
        "from pickle import Unpickler as U\nU(f).load()",
        "import numpy as np\nnp.load(f, allow_pickle=True)",
        "eval(text)",
        "exec(text)",
        "import os\nos.system('ls')",
        "from os import popen as p\np('ls')",
        "import subprocess\nsubprocess.run('ls', shell=True)",
        "import subprocess as s\ns.Popen('ls', shell=on)",
        "import yaml\nyaml.load(f)",
        "from ruamel.yaml import YAML\nYAML(typ='unsafe')",
        "from PIL import Image\nImage.open(f)",
        "import PIL.Image\nPIL.Image.open(f)",
        "import requests\nrequests.get(u)",
        "import requests\nrequests.get(u, timeout=None)",
        "session.get(u)",
        "import requests\nrequests.get(u, timeout=5, verify=False)",
        "tar.extractall(folder)",
        "import torch.distributed as dist\ndist.all_gather_object(found, mine)",
        "import time\ntime.time()",
        "from time import time\ntime()",
    ],
)
def test_a_planted_violation_is_found(source):
    [found] = violations(source, "lab/x.py")
    assert found.startswith("lab/x.py:")


def test_what_is_allowed_is_no_violation():
    source = """
import time, torch, requests, subprocess
from PIL import Image
torch.load(f, weights_only=True, map_location="cpu")
Image.open(f, formats=("PNG",))
requests.get(u, timeout=5)
subprocess.run(["ls"], shell=False)
net.eval()
time.monotonic()
"""
    assert violations(source, "lab/x.py") == []
    assert violations("import time\ntime.time()", "lab/tools/doctor/a.py") == []


def shell_words(pipeline: str) -> list[str]:
    """What DVC fills into commands as it is; `${item}` is a mapping, which it quotes."""
    commands = re.findall(r"^ +cmd: (.*)$", pipeline, flags=re.MULTILINE)
    return [
        word for line in commands for word in re.findall(r"\$\{[^}]*\}", line) if word != "${item}"
    ]


def test_no_value_of_params_becomes_a_word_of_the_shell():
    assert shell_words((ROOT / "dvc.yaml").read_text()) == []
    assert shell_words("  a:\n    cmd: python -m a ${item.run}\n") == ["${item.run}"]


@pytest.mark.faults("P12")
@pytest.mark.parametrize("name", ["a", "$(touch b)", "a; touch b", "a' ; touch b; '", "-rf", "a b"])
def test_dvc_quotes_what_it_fills_in_from_a_mapping(name):
    assert shlex.split(to_str({"run": name})) == ["--run", name]


def free_strings(schema: dict, where: str = "") -> Iterator[str]:
    """Where a JSON schema admits any text."""
    if schema.get("type") == "string" and not {"pattern", "enum", "const"} & set(schema):
        yield where
    for key, part in schema.items():
        for name, inner in part.items() if key in ("properties", "$defs") else ():
            yield from free_strings(inner, f"{where}.{name}")
        if key in ("items", "additionalProperties", "propertyNames") and isinstance(part, dict):
            yield from free_strings(part, f"{where}.{key}")
        if key in ("anyOf", "prefixItems"):
            for inner in part:
                yield from free_strings(inner, where)


def test_params_hold_no_path_and_no_free_text():
    """What becomes a file's name, an address or a word of a command has a pattern."""
    found = [
        place for model in params_models() for place in free_strings(model.model_json_schema())
    ]
    assert found == []
    assert list(free_strings({"properties": {"a": {"type": "string"}}})) == [".a"]


@pytest.mark.faults("P11", "P12")
@pytest.mark.parametrize(
    "name",
    ["../../a", "/a", "a/b", "-rf", "$(touch b)", "a; touch b", "a b", "a\n", "ż", "", "a" * 65],
)
def test_a_runs_name_is_no_path_no_option_and_no_command(name):
    laptop = read_yaml(ROOT / "profiles" / "laptop.yaml")["train"]
    assert TrainParams.model_validate({**laptop, "runs": {"a_1": {}}}).runs
    with pytest.raises(ValidationError):
        TrainParams.model_validate({**laptop, "runs": {name: {}}})


def listening(processes: Iterable[int]) -> set[str]:
    """The addresses on which processes listen, from the kernel's table."""
    sockets = set()
    for pid in processes:
        with contextlib.suppress(OSError):  # it has ended
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    sockets.add(str(entry.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTEN and f"socket:[{inode}]" in sockets:
                found.add(address_of(local.partition(":")[0]))
    return found


def address_of(digits: str) -> str:
    """An address as the kernel writes it: 32-bit words in the machine's order."""
    words = [
        int(digits[i : i + 8], 16).to_bytes(4, sys.byteorder) for i in range(0, len(digits), 8)
    ]
    return str(ip_address(b"".join(words)))


def is_open_to_others(address: str) -> bool:
    found = ip_address(address)
    return not (getattr(found, "ipv4_mapped", None) or found).is_loopback


def test_the_kernels_table_tells_who_listens_where():
    with (
        socket.create_server(("127.0.0.1", 0)),
        socket.create_server(("::1", 0), family=socket.AF_INET6),
    ):
        before = listening([os.getpid()])
        assert {"127.0.0.1", "::1"} <= before
        with socket.create_server(("", 0)):
            assert listening([os.getpid()]) - before == {"0.0.0.0"}  # noqa: S104
    assert [is_open_to_others(a) for a in ("127.0.0.1", "::1", "::ffff:127.0.0.1")] == [False] * 3
    assert all(is_open_to_others(a) for a in ("0.0.0.0", "::", "::ffff:10.0.0.1"))  # noqa: S104


@contextlib.contextmanager
def family_watched() -> Iterator[set[str]]:
    """Where this process and its descendants listen, at any moment of the context."""
    found: set[str] = set()
    over = threading.Event()
    me = psutil.Process()

    def watch() -> None:
        while not over.wait(0.1):
            found.update(listening([me.pid, *(child.pid for child in me.children(recursive=True))]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def test_measuring_collectives_listens_on_loopback_alone():
    """A run of ddp is watched in tests/lab/parallel/test_launch.py."""
    devices = Devices("cpu-virtual", [torch.device("cpu")] * 2, 1)
    params = BenchParams(starts=1, rounds=20, min_sample_ms=5)
    with family_watched() as found:
        time_among_ranks([Arm(RING, 2, (1000,))], params, devices)
    assert found, "the ranks met somewhere"
    assert not any(map(is_open_to_others, found)), found


@pytest.mark.parametrize(
    ("endpoint", "nnodes", "warns"),
    [("10.0.0.1:29500", 2, True), ("127.0.0.1:29500", 2, False), ("10.0.0.1:29500", 1, False)],
)
def test_a_run_over_several_hosts_says_once_who_can_join(
    endpoint, nnodes, warns, monkeypatch, caplog
):
    monkeypatch.setattr(launch, "elastic_launch", lambda config, entry: lambda *words: None)
    monkeypatch.setattr(launch.os, "environ", dict(os.environ))
    monkeypatch.setattr(logging, "disable", lambda level=0: None)
    monkeypatch.setattr(launch, "RANKS_FOLDER", Path("/nowhere"))
    params = DistributedParams(nnodes=nnodes, rdzv_endpoint=endpoint, timeout_s=5)
    launch.launch("a", "a", 1, params, 1)
    said = [record.getMessage() for record in caplog.records]
    assert [f"whoever reaches {endpoint} can join" in line for line in said] == [True] * warns
