"""Test accuracies of LeNet by the notes' loop and by this engine over seeds: python -m
bench.accuracy_bands SEEDS

One line of JSON per run, 10 epochs each, on the machine's cores; then the band of each way. Not a
test: it takes minutes per seed.
"""

import json
import sys

import torch
import torch.nn.functional as F

from lab.core.shared_params import Precision
from lab.data import loaders
from lab.data.datasets import read_fashion_mnist
from lab.data.images import LabelledImages, to_float
from lab.machine.allocator import keep_memory
from lab.nets.models import LeNet
from lab.parallel.replicas import sgd
from lab.training.loop import train
from lab.training.strategies import Replicas

BATCH_SIZE, LR, NUM_EPOCHS = 256, 0.2, 10
CPU = torch.device("cpu")


def tensors(name: str) -> LabelledImages:
    split = read_fashion_mnist(name)
    return torch.tensor(split.images), torch.from_numpy(split.labels)


def notes(seed: int, test_set: LabelledImages) -> list[float]:
    """Train as the notes do: a PIL image and a float tensor of each image, a shuffling
    DataLoader.
    """
    torch.manual_seed(seed)
    net = LeNet(torch.Generator().manual_seed(seed))
    images, labels = test_set
    found = []
    for _ in range(NUM_EPOCHS):
        for X, y in loaders.loader(loaders.book_images(), BATCH_SIZE, 0):
            F.cross_entropy(net(X), y, reduction="none").sum().backward()
            sgd(net.parameters(), LR, len(X))
        with torch.no_grad():
            right = sum(
                (net(to_float(X)).argmax(1) == y).sum().item()
                for X, y in zip(images.split(1000), labels.split(1000), strict=True)
            )
        found.append(right / len(labels))
    return found


def engine(seed: int, test_set: LabelledImages, precision: Precision) -> list[float]:
    strategy = Replicas(LeNet(torch.Generator().manual_seed(seed)), [CPU], precision)
    *_, last = train(strategy, tensors("train"), test_set, BATCH_SIZE, LR, NUM_EPOCHS, seed)
    return [epoch.test_accuracy for epoch in last.epochs]


def main() -> None:
    keep_memory()
    test_set = tensors("t10k")
    ways = {
        "engine, fp32": lambda seed: engine(seed, test_set, "fp32"),
        "engine, bf16": lambda seed: engine(seed, test_set, "bf16"),
        "notes": lambda seed: notes(seed, test_set),
    }
    last: dict[str, list[float]] = {way: [] for way in ways}
    for seed in range(int(sys.argv[1])):
        for way, accuracies_of in ways.items():
            accuracies = accuracies_of(seed)
            last[way].append(100 * accuracies[-1])
            print(json.dumps({"way": way, "seed": seed, "test_accuracy": accuracies}), flush=True)
    for way, found in last.items():
        mean, sd = torch.tensor(found).mean().item(), torch.tensor(found).std().item()
        print(
            f"{way}: {mean:.2f} % (sd {sd:.2f}, {min(found):.2f} to {max(found):.2f}) over"
            f" {len(found)} seeds"
        )


if __name__ == "__main__":
    main()
