"""Kill each layer of a run at random moments: the same command must resume, with the same bits.

    python -m bench.kills --minutes 60

This runs in a copy of this checkout with the smoke profile: a training run on one device, one on
two ranks, and a theory stage, each by `invoke repro --stage`. SIGKILL hits one layer: invoke, dvc,
the stage, multiprocessing's fork server, or a process forked from it. Nothing may outlive the kill;
then the same command must exit with 0 and leave the same results as an undisturbed run.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
MARK = "LAB_KILLS_MARK"  # in the environment of every process that a command starts
LAYERS = ("invoke", "dvc", "stage", "fork server", "forked")
JOBS = {"one device": "train@one", "two ranks": "train@two", "theory": "landscapes"}
RUN = {"num_epochs": 40, "train_images": 768, "test_images": 256}
LONGEST_S = 300  # of an undisturbed command
WITHIN_S = 15  # for the remaining processes of a killed command to end


def set_up(folder: Path) -> None:
    """Copy the checkout and give it two training runs that take seconds."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    runs = {"one": RUN, "two": RUN | {"strategy": "ddp", "num_gpus": 2}}
    program = (
        "import json, sys; from pathlib import Path; from ruamel.yaml import YAML;"
        "from lab.tools.profiles import merge; yaml = YAML(); document = yaml.load(merge('smoke'));"
        "document['train']['runs'] = json.loads(sys.argv[1]);"
        "yaml.dump(document, Path('params.yaml'))"
    )
    subprocess.run(
        [sys.executable, "-c", program, json.dumps(runs)], cwd=folder, env=environment(), check=True
    )
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def environment(mark: str = "") -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {MARK: mark}


def start(folder: Path, job: str, mark: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "invoke", "repro", "--stage", JOBS[job]]
    with (folder / "said").open("ab") as said:
        return subprocess.Popen(
            command, cwd=folder, env=environment(mark), stdout=said, stderr=said
        )


def family(mark: str) -> Iterator[psutil.Process]:
    """Yield all living processes that a command started."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                yield process


def layer_of(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        words = process.cmdline()
        if any(word.startswith("stages.") for word in words):  # a forked process has them as well
            above = [each for each in process.parents() if each.cmdline() == words]
            return ("stage", "fork server", "forked")[len(above)]
        if any(word.endswith("dvc") for word in words[:3]):
            return "dvc"
        if "invoke" in words:
            return "invoke"
    return "other"


def bits(folder: Path, job: str) -> dict[str, str]:
    """Return the hashes of a job's results, without times."""
    if job == "theory":
        return {
            "rows": hashlib.sha256(
                (folder / "reports/landscapes/rows.csv").read_bytes()
            ).hexdigest()
        }
    name = JOBS[job].removeprefix("train@")
    conditions = json.loads((folder / f"reports/train/{name}/conditions.json").read_text())
    rows = (folder / f"reports/train/{name}/rows.csv").read_text().splitlines()
    losses = "\n".join(",".join(row.split(",")[:3]) for row in rows)
    return {
        "weights": conditions["weights_sha256"],
        "model": hashlib.sha256((folder / f"models/{name}.pt").read_bytes()).hexdigest(),
        "losses": hashlib.sha256(losses.encode()).hexdigest(),
    }


def forget(folder: Path, job: str) -> None:
    """Delete a job's results and DVC's caches, so that it runs again."""
    name = JOBS[job].removeprefix("train@")
    outs = {"theory": ["reports/landscapes"]}.get(
        job, [f"models/{name}.pt", f"reports/train/{name}"]
    )
    for out in outs:
        path = folder / out
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    (folder / "dvc.lock").unlink(missing_ok=True)
    shutil.rmtree(folder / ".dvc" / "cache", ignore_errors=True)
    shutil.rmtree(folder / ".dvc" / "tmp" / "run_cache", ignore_errors=True)


def undisturbed(folder: Path, job: str) -> dict[str, str]:
    forget(folder, job)
    process = start(folder, job, "undisturbed")
    if process.wait(LONGEST_S):
        sys.exit(f"{job} does not run undisturbed: see {folder / 'said'}")
    return bits(folder, job)


def disturb(
    folder: Path, job: str, rng: random.Random, seconds: float, kills: Mapping[str, int]
) -> str | None:
    """Start a job, kill a process of the least killed layer, and return the layer.

    Return None if the job had ended.
    """
    mark = secrets.token_hex(8)
    process = start(folder, job, mark)
    time.sleep(rng.uniform(0.5, seconds))
    by_layer: dict[str, list[psutil.Process]] = {}
    for each in family(mark):
        by_layer.setdefault(layer_of(each), []).append(each)
    there = [layer for layer in LAYERS if layer in by_layer]
    alive = bool(there) and process.poll() is None
    layer = min(there, key=lambda name: (kills[name], rng.random())) if alive else None
    if layer:
        with contextlib.suppress(psutil.NoSuchProcess):
            rng.choice(by_layer[layer]).kill()
    process.wait(LONGEST_S)
    deadline = time.monotonic() + WITHIN_S
    while (left := list(family(mark))) and time.monotonic() < deadline:
        time.sleep(0.1)
    if left:
        sys.exit(f"{job}, {layer} killed: outlived by {[p.cmdline() for p in left]}")
    return layer


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--job", choices=JOBS, help="the only job to kill")
    parser.add_argument("--seed", type=int, default=int(time.time()))  # noqa: TID251
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    jobs = [arguments.job] if arguments.job else list(JOBS)
    rng = random.Random(arguments.seed)  # noqa: S311  (moments, not secrets)
    kills, same = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "a copy"
        folder.mkdir()
        set_up(folder)
        expected, seconds = {}, {}
        for job in jobs:
            began = time.monotonic()
            expected[job] = undisturbed(folder, job)
            seconds[job] = time.monotonic() - began
        until = time.monotonic() + 60 * arguments.minutes
        while time.monotonic() < until:
            job = rng.choice(jobs)
            forget(folder, job)
            layer = disturb(folder, job, rng, seconds[job], kills)
            if start(folder, job, "again").wait(LONGEST_S):
                sys.exit(f"{job}, {layer} killed: the same command fails: see {folder / 'said'}")
            if layer:
                kills[layer] += 1
                same[layer] += bits(folder, job) == expected[job]
                print(f"{sum(kills.values())}: {job}, {layer}", flush=True)
    print(f"{'layer':12} {'kills':>5} {'same bits':>9}")
    for layer in LAYERS:
        print(f"{layer:12} {kills[layer]:5} {same[layer]:9}")
    sys.exit(kills != same)


if __name__ == "__main__":
    main()
