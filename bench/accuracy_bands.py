"""LeNet's test accuracies with the notes' loop and with this engine.

`python -m bench.accuracy_bands SEEDS` prints one line of JSON per run of 10 epochs on all cores,
then each variant's band over the seeds. It takes minutes per seed.
"""

import argparse
import json
import sys

import torch
import torch.nn.functional as F

from lab.core.process import run
from lab.core.shared_params import Precision
from lab.data import loaders
from lab.data.datasets import read_fashion_mnist
from lab.data.images import LabelledImages, to_float, to_tensors
from lab.nets.models import LeNet
from lab.parallel.replicas import sgd
from lab.training.accuracy import accuracy, logits_of
from lab.training.loop import train
from lab.training.run_params import NOTES
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer, prepare_process

CPU = torch.device("cpu")


def by_the_notes(seed: int, test_set: LabelledImages) -> list[float]:
    """Return the accuracy after each epoch of the notes' loop: a DataLoader shuffles PIL images."""
    torch.manual_seed(seed)
    net = LeNet(torch.Generator().manual_seed(seed))
    images, labels = test_set
    found = []
    for _ in range(NOTES.num_epochs):
        for X, y in loaders.loader(loaders.book_images(), NOTES.batch_size, 0):
            F.cross_entropy(net(X), y, reduction="none").sum().backward()
            sgd(net.parameters(), NOTES.lr, len(X))
        found.append(accuracy(logits_of(net, to_float(images)), labels))
    return found


def by_the_engine(seed: int, test_set: LabelledImages, precision: Precision) -> list[float]:
    """Return the accuracy after each epoch of this engine."""
    train_set = to_tensors(read_fashion_mnist("train"))
    net = LeNet(torch.Generator().manual_seed(seed))
    model, step = model_and_step(net, [CPU], NOTES.but(precision=precision))
    *_, last = train(Trainer(model, step, train_set), test_set, seed)
    model.close()
    return [epoch.test_accuracy for epoch in last.epochs]


def main() -> None:
    """Train each variant with each seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("seeds", type=int, help="how many random seeds, 2 or more")
    seeds = parser.parse_args().seeds
    if seeds < 2:
        parser.error(f"argument seeds: expected 2 or more, got {seeds}")
    prepare_process("fp32")
    test_set = to_tensors(read_fashion_mnist("t10k"))
    variants = {
        "engine, fp32": lambda seed: by_the_engine(seed, test_set, "fp32"),
        "engine, bf16": lambda seed: by_the_engine(seed, test_set, "bf16"),
        "notes": lambda seed: by_the_notes(seed, test_set),
    }
    last: dict[str, list[float]] = {variant: [] for variant in variants}
    for seed in range(seeds):
        for variant, accuracies_of in variants.items():
            accuracies = accuracies_of(seed)
            last[variant].append(100 * accuracies[-1])
            print(
                json.dumps({"variant": variant, "seed": seed, "test_accuracy": accuracies}),
                flush=True,
            )
    for variant, found in last.items():
        mean, sd = torch.tensor(found).mean().item(), torch.tensor(found).std().item()
        print(
            f"{variant}: {mean:.2f} % (sd {sd:.2f}, {min(found):.2f} to {max(found):.2f}) over"
            f" {len(found)} seeds"
        )


if __name__ == "__main__":
    sys.exit(run(main))
