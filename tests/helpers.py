"""What several test files call."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from lab.core.files import write_json
from lab.data import datasets, idx, synthetic
from lab.data.datasets import sha256
from lab.report.page import Section

ROOT = Path(__file__).resolve().parent.parent


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


def small_run(**changes: Any) -> dict[str, Any]:
    """Return a training run of seconds for params.yaml; `write_data(..., train=600, test=100)` has
    its images.
    """
    run = {
        "net": "lenet",
        "strategy": "replicas",
        "precision": "fp32",
        "compile": "none",
        "num_gpus": 1,
        "batch_size": 256,
        "lr": 0.2,
        "num_epochs": 2,
    }
    return run | {"train_images": 600, "test_images": 100} | changes


def draw(section: Section, folder: Path) -> None:
    """Draw a section's figures into `folder`."""
    for figure in section.figures:
        figure.draw(folder / f"{figure.name}.svg")
