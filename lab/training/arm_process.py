"""One arm of a race, in a process of its own: `python -m lab.training.arm_process ARM`.

ARM is a TrainingArm as JSON. The process takes a turn at each line that it is sent, and answers
with the seconds that one step took.
"""

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Literal

import torch
import torch.distributed as dist
import torch.nn.functional as F

from lab.core.shared_params import LOOPBACK, Compile, DistributedParams, Precision
from lab.data.datasets import read_fashion_mnist
from lab.data.images import to_tensors
from lab.data.order import epoch_order
from lab.machine.devices import Devices
from lab.nets.models import MODELS
from lab.parallel.launch import launch, own_rank, process_group
from lab.parallel.replicas import sgd
from lab.timing.clock import read_clock
from lab.training.steps import Stepper, prepare_process
from lab.training.strategies import Ddp, Replicas, Strategy

PREFETCHED = 2  # batches that each worker holds ready, which a short turn would get for free
LR = 0.01
DISTRIBUTED = DistributedParams(nnodes=1, rdzv_endpoint=f"{LOOPBACK}:0", timeout_s=600)
Turn = Callable[[], float]  # takes an arm's steps and returns seconds per step


@dataclass(frozen=True)
class TrainingArm:
    """What a process does in its turns: `steps` training steps, or as many as an epoch has.

    `replicas` trains on `num_devices` devices of one process, `ddp` in as many processes, `book`
    as the notes do, with `num_workers` processes that load. `product` multiplies square matrices
    of `batch_size` rows instead.
    """

    kind: Literal["book", "replicas", "ddp", "product"]
    net: str
    batch_size: int
    steps: int
    device: str
    threads: int
    num_devices: int = 1
    precision: Precision = "fp32"
    compile_mode: Compile = "none"
    num_workers: int = 0

    def devices(self) -> list[torch.device]:
        """The arm's devices: GPUs by number, or the CPU as often."""
        if self.device == "cuda":
            return [torch.device("cuda", i) for i in range(self.num_devices)]
        return [torch.device(self.device)] * self.num_devices


def main() -> None:
    """Take the turns of the arm on the command line; the processes of `ddp` come here again."""
    logging.disable(logging.WARNING)
    arm = TrainingArm(**json.loads(sys.argv[1]))
    if arm.kind == "ddp" and own_rank() is None:
        launch("lab.training.arm_process", sys.argv[1], arm.num_devices, DISTRIBUTED, arm.threads)
        return
    if arm.kind in ("replicas", "ddp"):
        prepare_process(arm.precision)
    torch.set_num_threads(arm.threads)
    {"book": _by_the_book, "replicas": _replicas, "ddp": _ddp, "product": _product}[arm.kind](arm)


def _by_the_book(arm: TrainingArm) -> None:
    """The notes' loop: PIL and floats for each image, a loader started anew, torch's defaults."""
    # torchvision takes a second to import, which the other arms need not spend
    from lab.data import loaders

    device, images = torch.device(arm.device), loaders.book_images()
    net = MODELS[arm.net](torch.Generator().manual_seed(0)).to(device)
    net.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]

    def turn() -> float:
        skipped, start, end, steps = max(1, PREFETCHED * arm.num_workers), 0.0, 0.0, 0
        for i, (X, y) in enumerate(loaders.loader(images, arm.batch_size, arm.num_workers)):
            if i == skipped:
                start = read_clock([device])
            loss = F.cross_entropy(net(X.to(device)), y.to(device), reduction="none").sum()
            loss.backward()
            sgd(net.parameters(), LR, len(X))
            end = read_clock([device])
            steps = i + 1 - skipped
            if steps == arm.steps:
                break
        return (end - start) / steps

    _answer(turn)


def _product(arm: TrainingArm) -> None:
    """Products of square matrices, a step being one: the rate that a step is held against."""
    device = torch.device(arm.device)
    dtype = torch.bfloat16 if arm.precision == "bf16" else torch.float32
    a = torch.rand(arm.batch_size, arm.batch_size, device=device).to(dtype)
    out = torch.empty_like(a)

    def turn() -> float:
        torch.mm(a, a, out=out)
        start = read_clock([device])
        for _ in range(arm.steps):
            torch.mm(a, a, out=out)
        return (read_clock([device]) - start) / arm.steps

    _answer(turn)


def _replicas(arm: TrainingArm) -> None:
    net = MODELS[arm.net](torch.Generator().manual_seed(0))
    _answer(_training(arm, Replicas(net, arm.devices(), arm.precision, arm.compile_mode)))


def _ddp(arm: TrainingArm) -> None:
    devices = arm.devices()
    kind: Literal["cuda", "cpu-virtual"] = "cuda" if arm.device == "cuda" else "cpu-virtual"
    own = devices[own_rank() or 0]
    with process_group(Devices(kind, devices, arm.threads), own, DISTRIBUTED):
        net = MODELS[arm.net](torch.Generator().manual_seed(0))
        _answer_together(_training(arm, Ddp(net, [own], arm.precision)))


def _training(arm: TrainingArm, strategy: Strategy) -> Turn:
    """The steps of stages.train, each turn those of another epoch; all batches are whole."""
    images, labels = to_tensors(read_fashion_mnist("train"))
    whole = len(labels) // arm.batch_size * arm.batch_size
    stepper = Stepper(strategy, (images[:whole], labels[:whole]), arm.batch_size, LR)
    epochs = count(1)

    def turn() -> float:
        order = epoch_order(whole, seed=0, epoch=next(epochs)).to(stepper.device)
        # the first finds the caches full of another arm's data
        batches = order.split(arm.batch_size)[: 1 + arm.steps]
        losses = torch.zeros(len(batches), dtype=torch.float64, device=stepper.device)
        stepper.take(batches[:1], losses)
        start = read_clock(strategy.devices)
        stepper.take(batches, losses, first=1)
        return (read_clock(strategy.devices) - start) / (len(batches) - 1)

    return turn


def _answer(turn: Turn) -> None:
    """Take a turn for each line of input."""
    for _ in sys.stdin:
        print(turn(), flush=True)


def _answer_together(turn: Turn) -> None:
    """Take a turn in every rank for each line that the first of them reads."""
    while True:
        go = torch.tensor(int(bool(sys.stdin.readline())) if dist.get_rank() == 0 else 0)
        dist.broadcast(go, src=0)
        if not go:
            return
        seconds = turn()
        if dist.get_rank() == 0:
            print(seconds, flush=True)


if __name__ == "__main__":
    main()
