"""The project with a pipeline of seconds: the real stack, few stages, tiny runs, made-up images.

It is copied, so that a test may break what it likes.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.helpers import ROOT, edit_params, small_run

STAGES = ("probe", "fetch", "landscapes", "replicas", "bench_parallel", "train", "claims")
TINY = small_run(batch_size=32, num_epochs=4)
RUNS = {
    "one": TINY,
    "by_hand": TINY | {"num_gpus": 2},
    "by_ddp": TINY | {"num_gpus": 2, "strategy": "ddp"},
}
COMMAND = [sys.executable, "-m", "invoke", "repro"]


def make(folder: Path) -> Path:
    """Make the project in a new folder; nothing has run."""
    folder.mkdir(parents=True)
    for name in ("tasks.py", ".dvcignore", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    for name in ("lab", "stages", "profiles"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "dvc.yaml").write_text("")
    _write_pipeline(folder / "dvc.yaml")
    shutil.copy(ROOT / "profiles" / "laptop.yaml", folder / "params.yaml")
    smoke = YAML(typ="safe").load(ROOT / "profiles" / "smoke.yaml")
    little = {name: smoke[name] for name in (*STAGES, "bench") if name in smoke and name != "train"}
    no_network = {"data.mirrors": {"fashion_mnist": [], "airfoil": []}}
    edit_params(
        dict(_leaves(little)) | no_network | {"train.runs": RUNS}, path=folder / "params.yaml"
    )
    for words in (["git", "init", "-q"], [sys.executable, "-m", "dvc", "init", "-q"]):
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    shutil.copy(ROOT / ".dvc" / "config", folder / ".dvc" / "config")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    """Commit what there is, for `forget_results` to come back to."""
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a"]
    for command in (["git", "add", "-A"], words):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _leaves(section: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested sections, by dotted keys."""
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _write_pipeline(path: Path) -> None:
    """The project's dvc.yaml without the stages that are left out, and what they would bring."""
    yaml = YAML()
    document = yaml.load(ROOT / "dvc.yaml")
    left_out = [name for name in document["stages"] if name not in STAGES]
    document["stages"] = {name: document["stages"][name] for name in STAGES}
    claims = document["stages"]["claims"]
    claims["deps"] = [
        dep
        for dep in claims["deps"]
        if str(dep).split("/")[1:2] not in [[name] for name in left_out]
    ]
    document.pop("plots", None)
    with path.open("w") as file:
        yaml.dump(document, file)


def results(folder: Path) -> dict[str, str]:
    """The hash of everything that is the same whenever and however often it is computed.

    Raises:
        ValueError: a file of results is not whole.
    """
    found = {}
    for path in sorted((folder / "reports").rglob("*")):
        if path.suffix == ".json":
            json.loads(path.read_bytes())
    for name in RUNS:
        rows = (folder / "reports" / "train" / name / "rows.csv").read_text().splitlines()
        found[f"{name} rows"] = _hash("\n".join(",".join(r.split(",")[:3]) for r in rows).encode())
    exact = [folder / "reports" / stage for stage in ("landscapes", "replicas", "fetch")]
    exact += [folder / "models", folder / "data"]
    for path in sorted(file for each in exact for file in each.rglob("*") if file.is_file()):
        if path.name != ".gitignore":
            found[path.relative_to(folder).as_posix()] = hash_of(path)
    return found


def forget_results(folder: Path) -> None:
    """Back to the last commit, with an empty cache of runs."""
    for name in ("reports", "models", ".lab", "dvc.lock", ".dvc/cache/runs"):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    subprocess.run(["git", "checkout", "-q", "."], cwd=folder, check=True, capture_output=True)


def hash_of(path: Path) -> str:
    """The hash of a file."""
    return _hash(path.read_bytes())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
