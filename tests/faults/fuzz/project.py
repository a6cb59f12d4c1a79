"""A project whose every file that the lab reads is small and valid: the seeds of what is tried."""

import gzip
import io
import json
import shutil
from pathlib import Path

import torch
from PIL import Image

from lab.core.files import write_json
from lab.data import synthetic
from lab.data.datasets import sha256
from lab.nets.models import MODELS
from lab.training.checkpoints import Checkpoints
from tests.helpers import ROOT, write_data

RUN = "lenet_1gpu"
SMALL_PARAMS = {
    "seed": 0,
    "devices": {"cpu_threads": "auto"},
    "data": {
        "mirrors": {"fashion_mnist": ["https://a.b/c"], "airfoil": []},
        "timeout_s": 5,
        "if_unreachable": "synthetic",
    },
}
KEY = "a" * 24
CHECKPOINT = {
    "key": KEY,
    "params": {"w": torch.zeros(2)},
    "buffers": [{"mean": torch.zeros(1)}],
    "updates": [[torch.zeros(2)]],
    "epochs": [(1, 0.5, 0.75, 1.25, False)],
    "losses": torch.zeros(1, dtype=torch.float64),
    "seconds": 0.5,
}
FORMATS = {"PNG": {}, "JPEG": {}, "GIF": {}, "WEBP": {"lossless": True}, "BMP": {}}
NO_LONGER_READ = (".html", ".svg", ".md")  # of what is under reports


def make(root: Path) -> None:
    """Write the project into `root`: the committed results, small data, and what a run leaves."""
    shutil.copy(ROOT / "profiles" / "laptop.yaml", root / "params.yaml")
    (root / "profiles").mkdir()
    for name in ("laptop.yaml", "smoke.yaml"):
        shutil.copy(ROOT / "profiles" / name, root / "profiles")
    for path in (ROOT / "reports").rglob("*"):
        if path.is_file() and path.suffix not in NO_LONGER_READ:
            copy = root / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    write_data(root / "data", train=40, test=20)
    write_json(root / "small.json", SMALL_PARAMS)  # params.yaml in JSON, which is YAML, too
    write_json(root / ".lab" / "stage_seconds.json", {"probe": 2.5, "train@lenet_1gpu": 31})
    _shorten(root / "reports" / "reference", stages=3, claims=4)
    _shorten(root / "reports" / "retest", stages=0, claims=6)
    (root / "dvc.lock").write_text(_first_stages(ROOT / "dvc.lock", 2))
    (root / "small.gz").write_bytes(gzip.compress(bytes(range(200))))
    (root / "zh.po").write_bytes(
        b"\n".join((ROOT / "lab/claims/zh.po").read_bytes().split(b"\n")[:40])
    )
    (root / ".dvc" / "tmp").mkdir(parents=True)
    (root / ".dvc" / "tmp" / "rwlock").write_text('{"write": {"/a": {"pid": 1, "cmd": "dvc"}}}')
    _write_weights(root / "models")
    vouch_for_weights(root)
    torch.save(CHECKPOINT, root / "checkpoint.pt")
    _write_pictures(root)


def checkpoints(root: Path = Path()) -> Checkpoints:
    """The checkpoints of a run there; none yet."""
    return Checkpoints(KEY, root / ".lab" / "checkpoints")


def vouch_for_weights(root: Path) -> None:
    """Write the hash of the run's weights into its metrics."""
    file = root / "reports" / "train" / RUN / "metrics.json"
    content = (root / "models" / f"{RUN}.pt").read_bytes()
    document = json.loads((ROOT / "reports" / "train" / RUN / "metrics.json").read_bytes())
    file.write_text(json.dumps(document | {"weights_sha256": sha256(content)[:16]}))


def _shorten(folder: Path, stages: int, claims: int) -> None:
    """Leave so few entries in each JSON file that an edit is likely to be in what matters."""
    for path in folder.glob("*.json"):
        document = json.loads(path.read_bytes())
        document["claims"] = document["claims"][:claims]
        if "stages" in document:
            document["stages"] = dict(list(document["stages"].items())[:stages])
        write_json(path, document)


def _first_stages(path: Path, count: int) -> str:
    lines = path.read_text().splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if line.startswith("  ") and line[2] not in " -"]
    return "".join(lines[: starts[count]])


def _write_weights(folder: Path) -> None:
    folder.mkdir()
    net = MODELS["lenet"](torch.Generator().manual_seed(0))
    torch.save(net.state_dict(), folder / f"{RUN}.pt")


def _write_pictures(root: Path) -> None:
    image = Image.fromarray(synthetic.fashion(3, 0)[0][2])
    for name, options in FORMATS.items():
        image.save(root / f"a.{name.lower()}", format=name, **options)
    with (root / "long.png").open("wb") as file:
        Image.new("P", (3000, 2)).save(file, format="PNG")


def other_weights() -> list[bytes]:
    """Files of torch.save that are smaller than a net's, and hold something else."""
    found = []
    for state in ({"W1": torch.zeros(2)}, [torch.zeros(1)], {"key": KEY, "step": 1}, "a"):
        buffer = io.BytesIO()
        torch.save(state, buffer)
        found.append(buffer.getvalue())
    buffer = io.BytesIO()
    torch.save({"a": torch.zeros(2)}, buffer, _use_new_zipfile_serialization=False)
    return [*found, buffer.getvalue()]
