"""Where do the data come from? Fashion-MNIST and the airfoil table, checked against pinned SHA-256 hashes.

Looked for in LAB_DATA_MIRROR (a folder or an address with `fashion-mnist/` and `airfoil/` under it), then in the
mirrors of params.yaml. Where nothing can be reached, seeded look-alikes are drawn and every result says so.

Read `data/source.json`: for each set `original` or `synthetic`, and the hash of each file. Book: the images are
those of section 4.2, the table that of 12.5.
"""

import sys

from lab.data import Split, read_fashion_mnist
from lab.download import DataParams, fetch
from lab.params import Section, load
from lab.records import REPORTS, Metrics, write_metrics
from lab.runner import run


class Params(Section):
    """What `fetch` reads of params.yaml."""

    data: DataParams


def summarise(source: dict[str, str], train: Split, test: Split) -> Metrics:
    """Return what was fetched, in few numbers."""
    return {
        "dataset": "synthetic" if source["fashion_mnist"] == "synthetic" else "fashion-mnist",
        "airfoil": source["airfoil"],
        "train_images": len(train.images),
        "test_images": len(test.images),
        "mean_pixel": round(float(train.images.mean()), 4),
    }


def main() -> None:
    """Bring the data under data/ and say what they are."""
    source = fetch(load(Params).data)
    train, test = read_fashion_mnist("train"), read_fashion_mnist("t10k")
    write_metrics(REPORTS / "fetch", summarise(source, train, test))


if __name__ == "__main__":
    sys.exit(run(main))
