"""Ways to train, each in a process of its own, timed in turn: so that no way's allocator, threads,
or loaders help or hinder another's.

A contestant is `python -m lab.training.race WAY`, with its way as JSON. It takes its steps at each
line that it is sent, and answers with the seconds that one step took.
"""

import json
import logging
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Literal

import torch
import torch.distributed as dist
import torch.nn.functional as F

from lab.core.errors import LabError
from lab.core.shared_params import LOOPBACK, Compile, DistributedParams, Precision
from lab.data.datasets import read_fashion_mnist
from lab.machine.allocator import keep_memory
from lab.machine.devices import Devices
from lab.nets.models import MODELS, allow_tf32
from lab.parallel import rank
from lab.parallel.launch import launch, own_rank, process_group
from lab.parallel.replicas import sgd
from lab.timing.bench import turns
from lab.timing.clock import read_clock
from lab.training.strategies import Ddp, Replicas, Strategy

PREFETCHED = 2  # batches that each worker holds ready, which a short timing would get for free
LR = 0.01
Turn = Callable[[], float]  # takes the steps and returns seconds per step


@dataclass(frozen=True)
class Way:
    """How a contestant trains; `num_devices` processes for `ddp`, devices of one process for
    `engine`.

    `gemm` multiplies square matrices of `batch_size` rows instead, with its precision: the
    machine's peak.
    """

    kind: Literal["book", "engine", "ddp", "gemm"]
    net: str
    batch_size: int
    steps: int
    device: str
    threads: int
    num_devices: int = 1
    precision: Precision = "fp32"
    compile_mode: Compile = "none"
    num_workers: int = 0


def race(ways: Mapping[str, Way], rounds: int, heats: int = 1) -> dict[str, tuple[float, ...]]:
    """Return seconds per step of each way, one sample per round, after turns that nobody counts.

    Each heat starts new processes for its share of the rounds: one and the same program can be a
    quarter faster or slower from one start to the next (by how its memory happens to lie), which
    turns of one process do not show.

    Raises:
        LabError: a contestant ended.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for heat in range(heats):
        with ExitStack() as running:
            runners = {
                name: running.enter_context(_contestant(name, way)) for name, way in ways.items()
            }
            for run in runners.values():
                run()  # its start, which may still go on, and its warm-up
            for name in turns(runners, len(range(heat, rounds, heats))):
                seconds[name].append(runners[name]())
    return {name: tuple(samples) for name, samples in seconds.items()}


@contextmanager
def _contestant(name: str, way: Way) -> Iterator[Turn]:
    command = [sys.executable, *rank.command("lab.training.race", json.dumps(asdict(way)))]
    environment = os.environ | {rank.LAUNCHER_VARIABLE: str(os.getpid())}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        requests, answers = process.stdin, process.stdout
        assert requests is not None  # noqa: S101
        assert answers is not None  # noqa: S101

        def turn() -> float:
            try:
                requests.write("go\n")
                requests.flush()
                return float(answers.readline())
            except (OSError, ValueError):
                raise LabError(
                    f"contestant {name!r} ended before the race did; its own words are above"
                ) from None

        try:
            yield turn
        finally:
            with suppress(OSError):
                requests.close()  # it ends at the end of its input
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _book(way: Way) -> Turn:
    """Return the notes' loop: PIL and floats for each image, a loader started anew, all else as
    torch has it.
    """
    # torchvision takes a second to import, which the other ways need not spend
    from lab.data import loaders

    device, images = torch.device(way.device), loaders.book_images()
    net = MODELS[way.net](torch.Generator().manual_seed(0)).to(device)
    net.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]

    def turn() -> float:
        skipped, start, end = max(1, PREFETCHED * way.num_workers), 0.0, 0.0
        for i, (X, y) in enumerate(loaders.loader(images, way.batch_size, way.num_workers)):
            if i == skipped:
                start = read_clock([device])
            loss = F.cross_entropy(net(X.to(device)), y.to(device), reduction="none").sum()
            loss.backward()
            sgd(net.parameters(), LR, len(X))
            end = read_clock([device])
            if i + 1 == skipped + way.steps:
                break
        return (end - start) / way.steps

    return turn


def _engine(way: Way, strategy: Strategy) -> Turn:
    """Return the engine's loop over resident bytes."""
    device = strategy.devices[0]
    split = read_fashion_mnist("train")
    images, labels = (
        torch.tensor(split.images).to(device),
        torch.from_numpy(split.labels).to(device),
    )
    seeds = random.Random(0)  # noqa: S311 - the order of images, the same in every process

    def turn() -> float:
        order = torch.randperm(
            len(labels), generator=torch.Generator().manual_seed(seeds.randrange(2**31))
        )
        start = 0.0
        for i, batch in enumerate(order.to(device).split(way.batch_size)[: 1 + way.steps]):
            if i == 1:  # the first step finds the caches full of another contestant's data
                start = read_clock(strategy.devices)
            mine = strategy.share(batch)
            strategy.step(
                images.index_select(0, mine), labels.index_select(0, mine), LR, len(batch)
            )
        return (read_clock(strategy.devices) - start) / way.steps

    return turn


def _gemm(way: Way) -> Turn:
    """Return products of square matrices: a step is one of them."""
    device, dtype = (
        torch.device(way.device),
        torch.bfloat16 if way.precision == "bf16" else torch.float32,
    )
    a = torch.rand(way.batch_size, way.batch_size, device=device).to(dtype)
    out = torch.empty_like(a)

    def turn() -> float:
        torch.mm(a, a, out=out)
        start = read_clock([device])
        for _ in range(way.steps):
            torch.mm(a, a, out=out)
        return (read_clock([device]) - start) / way.steps

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


def main() -> None:
    """Compete in the way that the command line says."""
    logging.disable(logging.WARNING)
    way = Way(**json.loads(sys.argv[1]))
    distributed = DistributedParams(nnodes=1, rdzv_endpoint=f"{LOOPBACK}:0", timeout_s=600)
    if way.kind == "ddp" and own_rank() is None:
        launch("lab.training.race", sys.argv[1], way.num_devices, distributed, way.threads)
        return
    if way.kind in ("engine", "ddp"):
        keep_memory()
        allow_tf32(way.precision)
    torch.set_num_threads(way.threads)
    if way.kind == "book":
        _answer(_book(way))
    elif way.kind == "gemm":
        _answer(_gemm(way))
    else:
        net = MODELS[way.net](torch.Generator().manual_seed(0))
        if way.kind == "engine":
            _answer(
                _engine(
                    way,
                    Replicas(net, _devices(way, way.num_devices), way.precision, way.compile_mode),
                )
            )
            return
        devices = _devices(way, way.num_devices)
        kind: Literal["cuda", "cpu-virtual"] = (
            "cuda" if devices[0].type == "cuda" else "cpu-virtual"
        )
        own = devices[own_rank() or 0]
        with process_group(Devices(kind, devices, way.threads), own, distributed):
            _answer_together(_engine(way, Ddp(net, [own], way.precision)))


def _devices(way: Way, count: int) -> list[torch.device]:
    return [
        torch.device(way.device, i) if way.device == "cuda" else torch.device(way.device)
        for i in range(count)
    ]


if __name__ == "__main__":
    main()
