"""Input-bound: an example takes a millisecond to load, a step hardly any time."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH_SIZE = 16


class Sleeping(Dataset):
    def __len__(self):
        return 10_000

    def __getitem__(self, i):
        time.sleep(0.001)
        return torch.full((8,), i / 10_000), i % 3


def make_net():
    return nn.Linear(8, 3)


def make_batch(batch_size, generator):
    labels = torch.randint(3, (batch_size,), generator=generator)
    return torch.rand(batch_size, 8, generator=generator), labels


def make_loader(batch_size):
    return DataLoader(Sleeping(), batch_size, shuffle=True)
