"""Run the stage: `python -m stages.fetch`."""

import sys

from lab.core.files import CONDITIONS, REPORTS, Metrics, write_json
from lab.core.params import load
from lab.core.process import run
from lab.data.datasets import Split, read_fashion_mnist
from stages.fetch.measure.download import fetch
from stages.fetch.measure.params import Params


def summarise(source: dict[str, str], train: Split, test: Split) -> Metrics:
    return {
        "dataset": "synthetic" if source["fashion_mnist"] == "synthetic" else "fashion-mnist",
        "airfoil": source["airfoil"],
        "train_images": len(train.images),
        "test_images": len(test.images),
    }


def main() -> None:
    """Fetch the data into data/ and write down what they are."""
    source = fetch(load(Params).data)
    train, test = read_fashion_mnist("train"), read_fashion_mnist("t10k")
    write_json(REPORTS / "fetch" / CONDITIONS, summarise(source, train, test))


if __name__ == "__main__":
    sys.exit(run(main))
