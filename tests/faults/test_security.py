"""Nobody is let in: what the code must not call, and what params admit."""

import ast
import re
import shlex
from collections.abc import Iterator

import pytest
from dvc.parsing.interpolate import to_str
from pydantic import ValidationError

from lab.core.params import read_yaml
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


@pytest.fixture(scope="module")
def laptop():
    return read_yaml(ROOT / "profiles" / "laptop.yaml")["train"]


@pytest.mark.parametrize(
    "name",
    ["../../a", "/a", "a/b", "-rf", "$(touch b)", "a; touch b", "a b", "a\n", "ż", "", "a" * 65],
)
def test_a_runs_name_is_no_path_no_option_and_no_command(laptop, name):
    assert TrainParams.model_validate({**laptop, "runs": {"a_1": {}}}).runs
    with pytest.raises(ValidationError):
        TrainParams.model_validate({**laptop, "runs": {name: {}}})
