"""Helpers of several test files."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from ruamel.yaml import YAML

from lab.claims.claim import Claim
from lab.claims.ledger import ledger
from lab.claims.rules import Verdict
from lab.claims.verdicts import judge
from lab.core.files import Metrics, Row, sha256, write_json
from lab.data import datasets, idx, synthetic
from lab.results.derived import derivation_of
from lab.results.diff import Taken
from lab.results.measurements import Results, measurements_of
from lab.tools.profiles import merge
from lab.training.run_params import NOTES, RunParams
from tests import forked

ROOT = Path(__file__).resolve().parent.parent


def _committed() -> Path:
    """Return a folder with results, their params and dvc.lock, as git's index has them.

    A user's own run overwrites those of the checkout. Untracked results, of a new stage, are copied
    as well. All workers share one copy.
    """
    if not (ROOT / ".git").exists():
        return ROOT
    if (made := os.environ.get("LAB_COMMITTED_RESULTS")) is None:
        made = os.environ["LAB_COMMITTED_RESULTS"] = tempfile.mkdtemp(prefix="lab-committed-")
        atexit.register(shutil.rmtree, made)
        known, new = (
            subprocess.run(
                ["git", "ls-files", "-z", *options, "reports", "params.yaml", "dvc.lock"],
                cwd=ROOT,
                capture_output=True,
                check=True,
            ).stdout
            for options in ((), ("--others", "--exclude-standard"))
        )
        export = ["git", "checkout-index", "-z", "--stdin", f"--prefix={made}/"]
        subprocess.run(export, cwd=ROOT, input=known, check=True)
        for name in filter(None, os.fsdecode(new).split("\0")):
            (Path(made) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, Path(made) / name)
        for name in ("stages", "notebooks", "LICENSE", "LICENSE-TEXT.md"):  # pages link there
            (Path(made) / name).symlink_to(ROOT / name)
    return Path(made)


COMMITTED = _committed()


@functools.cache
def committed_params() -> str:
    """Return the text of params.yaml for the profile `laptop`, whatever profile is in use."""
    return merge("laptop", ROOT / "profiles", ROOT / "params.yaml")


def write_data(root: Path, train: int = 96, test: int = 40, origin: str = "original") -> None:
    """Write a small Fashion-MNIST and airfoil table under `root`, as `fetch` leaves them."""
    hashes = {}
    for half, count in (("train", train), ("t10k", test)):
        images, labels = synthetic.fashion(count, seed=count)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            path = root / datasets.RAW_FOLDER / f"{half}-{kind}-ubyte"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(idx.encode(array))
            hashes[path.relative_to(root).as_posix()] = sha256(path.read_bytes())
    table = root / datasets.AIRFOIL_FILE
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text("800\t0\t0.3\t71.3\t0.002\t126.2\n")
    hashes[datasets.AIRFOIL_FILE.as_posix()] = sha256(table.read_bytes())
    write_json(
        root / datasets.SOURCE_FILE, {"fashion_mnist": origin, "airfoil": origin, "sha256": hashes}
    )


def edit_params(
    changes: dict[str, Any], delete: bool = False, path: Path = Path("params.yaml")
) -> None:
    """Set (or delete) dotted keys in a params file."""
    yaml = YAML()
    document = yaml.load(path)
    for key, value in changes.items():
        *parents, last = key.split(".")
        section = document
        for parent in parents:
            section = section[parent]
        if delete:
            del section[last]
        else:
            section[last] = value
    yaml.dump(document, path)


def recipe(**changes: Any) -> RunParams:
    """Return the notes' recipe with `changes`."""
    return RunParams.model_validate(NOTES.model_dump() | changes)


def small_run(**changes: Any) -> dict[str, Any]:
    """Return a run of seconds for params.yaml, on `write_data(..., train=600, test=100)`."""
    small = {"num_epochs": 2, "train_images": 600, "test_images": 100}
    return NOTES.model_dump(exclude={"momentum"}) | small | changes


def hardware(model: str, gpus: Sequence[str] = ()) -> dict[str, Any]:
    """Return the facts of a machine with that CPU and those GPUs, as `probe` writes them."""
    facts: dict[str, Any] = json.loads((COMMITTED / "reports" / "hardware.json").read_bytes())
    facts["cpu"]["model"] = model
    facts["accelerator"] |= {"count": len(gpus), "names": list(gpus) or None}
    return facts


def run_stage(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a module as DVC runs a stage, without any data mirror."""
    env = {k: v for k, v in os.environ.items() if k != "LAB_DATA_MIRROR"}
    return forked.run(*words, env=env | {"PYTHONPATH": str(ROOT)} | environment)


def python(
    *words: str,
    through: Sequence[str] = (),
    cwd: Path | None = None,
    timeout: float | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter, which finds the project's packages from any folder."""
    return subprocess.run(
        [*through, sys.executable, *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount", "--net"]
needs_namespaces = pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode != 0,
    reason="no namespaces of its own may be made here",
)


def in_namespaces(setup: str, *command: str) -> list[str]:
    """Return `command` to run after a shell's `setup`, with mounts and a network of its own.

    The network's loopback interface is down.
    """
    return [*NAMESPACES, "sh", "-c", f'{setup} && exec "$@"', "sh", *command]


def files(folder: Path) -> set[str]:
    """Return the paths of the files under a folder, relative to it."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def outlived(processes: Sequence[psutil.Process], seconds: float = 10) -> list[psutil.Process]:
    """Kill and return the processes that still live after the given seconds."""

    def lives(process: psutil.Process) -> bool:
        try:
            return process.status() != psutil.STATUS_ZOMBIE  # ended, perhaps not reaped
        except psutil.NoSuchProcess:
            return False

    deadline = time.monotonic() + seconds
    while any(map(lives, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [process for process in processes if lives(process)]
    for process in left:
        process.kill()
    return left


def errors(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines of stderr; assert that each is one of our errors."""
    lines = result.stderr.splitlines()
    assert lines, "an error says something"
    assert all(line.startswith("ERROR: ") for line in lines), result.stderr
    return lines


def claim_of(claim_id: str) -> Claim:
    """Return the ledger's claim with that id."""
    return next(claim for claim in ledger() if claim.id == claim_id)


def verdicts(stage: str, conditions: Metrics, rows: Sequence[Row]) -> dict[str, Verdict]:
    """Return the verdicts on a stage's claims, given its conditions and rows."""
    found = derivation_of(stage).findings(Results(measurements_of(rows), conditions))
    taken = Taken(found, conditions)
    return {c.id: judge(c, taken).verdict for c in ledger() if c.stage == stage}
