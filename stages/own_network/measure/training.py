"""A fresh process that trains the reader's network with some techniques, turn by turn."""

import logging
import os
import resource
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from itertools import islice, repeat
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from textwrap import shorten
from typing import Any

import torch
import torch._dynamo  # every optimizer brings it: so processes fork with it
import torch.distributed as dist
from torch import Tensor
from torch.utils._pytree import tree_map_only

from lab.core.errors import MachineError, SpaceError
from lab.machine.devices import Devices
from lab.nets.step_parts import StepParts
from lab.parallel.process_group import process_group
from lab.results.reasons import Reason
from lab.timing import rates
from lab.timing.clock import read_clock, time_parts
from stages.own_network.measure import names
from stages.own_network.measure.network import (
    Batch,
    Network,
    called,
    check,
    examples,
    load,
    on_device,
    one_line,
    out_of_memory,
    place,
)
from stages.own_network.measure.techniques import TECHNIQUES, data_in_memory

LOSSES = 8  # first steps whose losses are compared
TRIES = 3  # turns of one step whose median says how long a step takes
KEPT = 32  # batches that stand for all data
BATCHES = 4  # that a net is trained on which has no loader
SETTLED = 4  # steps after which a loader's workers are no more ahead than they stay
PARTS_STEPS = 5  # of which the median is taken
FEW = 2  # examples of a step with next to no arithmetic; batch norm refuses one
TIMEOUT_S = 600  # of an answer, for which a compiler may build, and of ranks
MOST_CHARACTERS = 80  # of what an exception of a technique says
TURN, END = "turn", "end"  # what a process is asked for


@dataclass(frozen=True)
class Plan:
    """The reader's file and the number of steps in a turn."""

    path: Path
    steps: int = 1


@dataclass(frozen=True)
class Variant:
    """The techniques that a process trains with, and `times` the file's batch size."""

    techniques: tuple[str, ...] = ()
    times: int = 1


AS_IT_IS = Variant()


@dataclass(frozen=True)
class Trial:
    """What is known of the file before the race.

    Attributes:
        seconds: of a step of the file as it is.
        batch_size: of the file.
        parameters: of its network.
        lacking: why techniques cannot be tried.
    """

    seconds: float
    batch_size: int
    parameters: int
    lacking: Mapping[str, Reason]


@dataclass(frozen=True)
class FirstSteps:
    """The losses of the first steps, and the seconds of the very first one."""

    losses: tuple[float, ...]
    first_step_s: float


@dataclass(frozen=True)
class Step:
    """What a process has measured of its steps.

    Attributes:
        peak_mib: of memory; on a processor beyond what there was before.
        parts: seconds of a step by part, where it is the file as it is.
        counted: GFLOP and GB of that step, as far as they can be counted.
        rates: GFLOP/s and GB/s of the machine.
    """

    peak_mib: float
    parts: Mapping[str, float] = field(default_factory=dict)
    counted: Mapping[str, float] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)


class Training:
    """The reader's training loop; its attributes are the names that a technique's lines use."""

    def __init__(self, network: Network, variant: Variant, seed: int, device: torch.device) -> None:
        self.network, self.device = network, device
        self.ranks = dist.get_world_size() if dist.is_initialized() else 1
        self.batch_size = network.BATCH_SIZE * variant.times // self.ranks
        torch.manual_seed(seed)
        self.net = network.make_net().to(device)
        self.optimizer = network.make_optimizer(self.net.parameters())
        self.loader = network.make_loader(self.batch_size) if network.make_loader else None
        self.loss_of: Callable[[Any, Any], Tensor] = self._loss_of
        self.kept = [] if self.loader else [*islice(self.made(0), BATCHES)]
        for name in variant.techniques:
            self.use(TECHNIQUES[name].apply)

    def _loss_of(self, inputs: Any, targets: Any) -> Tensor:
        return self.network.loss(called(self.net, inputs), targets)

    def use(self, function: Callable[..., Any]) -> None:
        """Apply a technique; the value its function returns replaces the first parameter."""
        given = self.named_by(function)
        if function is data_in_memory:
            given["loader"] = islice(given["loader"], KEPT)
        if (found := function(**given)) is not None:
            setattr(self, next(iter(given)), found)

    def named_by(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Return the attributes named by a function's parameters."""
        return {name: getattr(self, name) for name in signature(function).parameters}

    def step_in_parts(self, batches: Iterator[Batch]) -> Iterator[str]:
        """Take a step; yield the name of each part when it is done."""
        inputs, targets = next(batches)
        yield names.INPUT
        self.loss = self.loss_of(inputs, targets)
        yield names.FORWARD
        self.loss.backward()
        yield names.BACKWARD
        self.optimizer.step()
        self.optimizer.zero_grad()
        yield names.UPDATE

    def step(self, batches: Iterator[Batch]) -> None:
        """Take a step."""
        for _ in self.step_in_parts(batches):
            pass

    def made(self, seed: int) -> Iterator[Batch]:
        """Yield batches of `make_batch` on the device; of several ranks, each has its share."""
        generator = torch.Generator().manual_seed(seed)
        rank = dist.get_rank() if self.ranks > 1 else 0
        while True:
            batch = self.network.make_batch(self.batch_size * self.ranks, generator)
            shares = tree_map_only(Tensor, lambda tensor: tensor.chunk(self.ranks)[rank], batch)
            yield on_device(shares, self.device)

    def batches(self) -> Generator[Batch, None, None]:
        """Yield the loader's batches, epoch after epoch; without a loader, a few kept batches."""
        while self.loader is None:
            yield from self.kept
        full = 0
        while True:
            begun = False
            for batch in self.loader:
                begun, full = True, full or examples(batch)
                if examples(batch) == full:  # the last one of an epoch may be smaller
                    yield on_device(batch, self.device)
            if not begun:
                raise ValueError("make_loader's has ended and cannot begin again: a DataLoader can")


def trial(device: torch.device, plan: Plan, threads: int, seed: int) -> Trial:
    """Check the file, time a step, and find out which techniques cannot be tried.

    Raises:
        LabError: in one line, what is wrong with the file.
    """
    network = load(plan.path)
    torch.set_num_threads(threads)
    check(network, plan.path, device, seed)
    with one_line(plan.path, "a step", network.BATCH_SIZE):
        training = Training(network, AS_IT_IS, seed, device)
        seconds = median(turn(training, 1) for _ in range(TRIES))
        lacking = {
            name: reason
            for name, technique in TECHNIQUES.items()
            if (reason := technique.lacks(**training.named_by(technique.lacks)))
        }
    parameters = sum(p.numel() for p in training.net.parameters())
    return Trial(seconds, network.BATCH_SIZE, parameters, lacking)


def serve(
    link: Connection,
    devices: Devices,
    environment: Mapping[str, str],
    plan: Plan,
    variant: Variant,
    seed: int,
) -> None:
    """Train a variant, from the weights and batches of a seed, one turn at each request.

    Sends FirstSteps, then its seconds for each TURN, and a Step for END. A rank finds its number in
    `environment`.

    Raises:
        LabError: the file, or a technique, does not work.
    """
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the file prints it printed in the trial
    os.environ |= environment
    device = devices.devices[int(environment.get("RANK", 0))]
    torch.set_num_threads(devices.threads)
    group = process_group(devices, device, TIMEOUT_S) if environment else nullcontext()
    before = peak_mib(device)
    network = load(plan.path)
    try:
        with group:
            training = Training(network, variant, seed, device)
            link.send(first_steps(training, seed))
            while link.recv() == TURN:
                link.send(turn(training, -(-plan.steps // variant.times)))
            found = Step(peak_mib(device) - before)
            link.send(with_parts(found, training) if variant == AS_IT_IS else found)
    except Exception as error:
        if variant == AS_IT_IS:
            with one_line(plan.path, "a step", network.BATCH_SIZE):
                raise
        if out_of_memory(error):
            raise SpaceError(f"out of memory{place(error, plan.path)}") from None
        what = f"{type(error).__name__}{place(error, plan.path)}"
        raise MachineError(f"{what}: {shorten(str(error), MOST_CHARACTERS)}") from None


def first_steps(training: Training, seed: int) -> FirstSteps:
    """Take the first steps, on the file's own batches."""
    torch.manual_seed(seed)  # of dropout
    batches, losses, first_step_s = training.made(seed), [], 0.0
    for _ in range(LOSSES):
        batch = next(batches)
        start = read_clock([training.device])
        training.step(iter([batch]))
        first_step_s = first_step_s or read_clock([training.device]) - start
        losses.append(training.loss.detach().double().cpu())
    together = torch.stack(losses)
    if training.ranks > 1:
        dist.all_reduce(together)
    return FirstSteps(tuple((together / training.ranks).tolist()), first_step_s)


def turn(training: Training, steps: int) -> float:
    """Return the seconds of a turn of `steps` for as many examples as the file's batch has.

    A turn ends the loader's workers and frees a GPU's cached memory, for the other process. A step
    that is a turn by itself on a processor needs no warm-up.
    """
    batches, devices = training.batches(), [training.device]
    on_gpu = training.device.type == "cuda"
    workers = getattr(training.loader, "num_workers", 0)
    for _ in range(SETTLED if workers else int(on_gpu or steps > 1)):
        training.step(batches)
    start = read_clock(devices)
    for _ in range(steps):
        training.step(batches)
    seconds = (read_clock(devices) - start) / steps
    batches.close()
    if on_gpu:
        torch.cuda.empty_cache()
    return seconds * training.network.BATCH_SIZE / (training.batch_size * training.ranks)


def with_parts(found: Step, training: Training) -> Step:
    """Add the parts of a step, the counted work, and the rates of the machine."""
    device, batches = training.device, training.batches()
    with StepParts(1, partial(read_clock, [device])) as seen:
        training.step(iter([next(batches)]))
    counted = {
        names.FLOP: sum(kind.flop for kind in seen.parts.values()) / 1e9,
        names.BYTES: sum(kind.num_bytes for kind in seen.parts.values()) / 1e9,
    }
    parts = parts_of(training, batches)
    few = training.network.make_batch(FEW, torch.Generator().manual_seed(0))
    of_few = parts_of(training, repeat(on_device(few, device)))
    return replace(
        found,
        parts=parts | {names.OF_FEW: sum(of_few.values()) - of_few[names.INPUT]},
        counted=counted,
        rates={
            names.FLOP: 1 / rates.fastest(rates.arithmetic(device), device),
            names.BYTES: 1 / rates.fastest(rates.copies(device), device),
        },
    )


def parts_of(training: Training, batches: Iterator[Batch]) -> dict[str, float]:
    """Return the median seconds of each part of a step."""
    steps = [
        time_parts(training.step_in_parts(batches), [training.device]) for _ in range(PARTS_STEPS)
    ]
    return {name: median(step[name] for step in steps) for name in names.STEP_PARTS}


def peak_mib(device: torch.device) -> float:
    """Return the peak memory: of tensors on a GPU, or the resident memory of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes there
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
