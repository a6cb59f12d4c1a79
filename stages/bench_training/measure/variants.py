"""The variants of the race, by experiment and name."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

import torch
from torch import nn

from lab.core.shared_params import Compile
from lab.machine.devices import DeviceKind, missing_for_compile
from lab.nets.models import MODELS, LeNet
from lab.results.measurements import Measurement, again, skip
from lab.results.reasons import (
    NEEDS,
    NEEDS_BF16,
    NEEDS_LIGHTNING,
    NEEDS_TWO_GPUS_OR_NONE,
    OFF,
    Reason,
)
from lab.timing import rates
from lab.training.run_params import NOTES, RunParams
from stages.bench_training.measure import names
from stages.bench_training.measure.params import TrainingParams

LR = 0.01
IN_GRAPHS: Compile = "max-autotune-no-cudagraphs"  # the whole step is one CUDA graph


class TrainingVariant(RunParams):
    """A recipe, and what its process does in a turn of `steps` steps (at most an epoch's).

    Attributes:
        kind: `book`, the notes' loop; `lightning`, PyTorch Lightning with the same loader;
            `example`, the loop of PyTorch's MNIST example with the same loader; `plain`, a loop
            over float images in memory, as one writes it without this project; `engine`, this
            project's training step with the recipe's strategy, on its devices in one process;
            `loop`, the notes' step on these devices, sequentially; `arithmetic` and `copies`: turns
            give seconds per GFLOP and per GB.
        num_workers: the loader's processes, for `book`, `lightning` and `example`.
        width: a factor for LeNet's channels and hidden units.
        in_parts: also time the parts of a step, for an `engine` on one device.
    """

    kind: Literal["book", "lightning", "example", "plain", "engine", "loop", "arithmetic", "copies"]
    steps: int
    device: Literal["cpu", "cuda"]
    threads: int
    num_workers: int = 0
    width: int = 1
    in_parts: bool = False

    def devices(self) -> list[torch.device]:
        """Return `num_gpus` devices: GPUs by number, or the CPU repeated."""
        if self.device == "cuda":
            return [torch.device("cuda", i) for i in range(self.num_gpus)]
        return [torch.device(self.device)] * self.num_gpus

    def make_net(self) -> nn.Module:
        """Make the net that the variant trains, on the CPU."""
        generator = torch.Generator().manual_seed(0)
        return LeNet(generator, self.width) if self.width > 1 else MODELS[self.net](generator)


Variants = dict[tuple[str, str], TrainingVariant]  # by experiment and name


@dataclass(frozen=True)
class Machine:
    """The devices to train on; a virtual device has `share` of the `cores` as threads.

    Without instructions for bfloat16 (`bf16`), a large matrix multiplication in it takes minutes.
    """

    device: Literal["cpu", "cuda"]
    gpus: int
    cores: int
    share: int
    bf16: bool

    @property
    def two_devices(self) -> DeviceKind | None:
        """Return the kind of the two devices; None with a single GPU."""
        if self.gpus == 0:
            return "cpu-virtual"
        return "cuda" if self.gpus > 1 else None


def variants_of(p: TrainingParams, machine: Machine, notes_workers: int) -> Variants:
    """Return the variants of the race; `p.peers` adds the slow ones."""
    lenet = _engine(names.LENET, p.lenet_batch_size, p.lenet_steps, machine)
    resnet = _engine(names.RESNET18, p.resnet_batch_size, p.resnet_steps, machine)
    notes = by_the_notes(p, machine)
    variants = {(names.LENET, names.BY_THE_NOTES[notes_workers]): notes[notes_workers]}
    variants |= {(names.LENET, name): variant for name, variant in _variants(lenet, p).items()}
    variants[names.LENET, again(names.ENGINE)] = lenet
    # on a CPU, a step takes a hundred times as long as loading its batch
    workers = notes_workers if machine.gpus else 0
    by_notes = resnet.but(kind="book", num_workers=workers)
    variants[names.RESNET18, names.BY_THE_NOTES[workers]] = by_notes
    variants |= {(names.RESNET18, name): variant for name, variant in _variants(resnet, p).items()}
    if p.peers:
        variants |= {(names.LENET, name): notes[n] for n, name in names.BY_THE_NOTES.items()}
        for net, book in ((names.LENET, notes[notes_workers]), (names.RESNET18, by_notes)):
            plain, lightning = book.but(kind="plain"), book.but(kind="lightning")
            variants[net, names.EXAMPLE] = book.but(kind="example")
            variants[net, names.PLAIN] = plain
            variants[net, names.PLAIN_BF16] = plain.but(precision="bf16")
            if has_lightning():
                variants[net, names.LIGHTNING] = lightning
                variants[net, names.LIGHTNING_BF16] = lightning.but(precision="bf16")
    elif not machine.gpus:
        del variants[names.RESNET18, names.BF16]
    rate = lenet.but(steps=rates.CALLS)
    for precision, name in names.ARITHMETIC.items():
        if precision != "tf32" or machine.gpus:
            variants[names.RATE, name] = rate.but(kind="arithmetic", precision=precision)
    variants[names.RATE, names.COPIES] = rate.but(kind="copies")
    variants |= _on_devices(lenet.but(steps=p.device_steps), p, machine)
    return {
        key: variant
        for key, variant in variants.items()
        if machine.bf16 or variant.precision != "bf16"
    }


def by_the_notes(p: TrainingParams, machine: Machine) -> dict[int, TrainingVariant]:
    """Return the notes' loop on LeNet, by its loader's number of workers."""
    lenet = _engine(names.LENET, p.lenet_batch_size, p.lenet_steps, machine)
    return {n: lenet.but(kind="book", num_workers=n) for n in names.BY_THE_NOTES}


def lacking(p: TrainingParams, machine: Machine) -> list[Measurement]:
    """Return rows that say why variants do not take part."""
    kind: DeviceKind = "cuda" if machine.gpus else "cpu"
    skipped = []
    if p.compile and (missing := missing_for_compile()):
        skipped += [skip(net, names.COMPILED, Reason(NEEDS, missing), kind) for net in names.NETS]
    if not p.peers:
        reason = Reason(OFF, "bench_training.peers")
        skipped += [skip(names.LENET, variant, reason, kind) for variant in names.PEERS]
    elif not has_lightning():
        reason = Reason(NEEDS_LIGHTNING)
        skipped += [skip(net, names.LIGHTNING, reason, kind) for net in names.NETS]
    if not machine.bf16:
        reason = Reason(NEEDS_BF16)
        in_bf16 = [names.BF16, *([names.PLAIN_BF16, names.LIGHTNING_BF16] if p.peers else [])]
        skipped += [skip(names.LENET, variant, reason, kind) for variant in in_bf16]
        skipped.append(skip(names.RATE, names.ARITHMETIC["bf16"], reason, kind))
    if machine.two_devices is None:
        skipped += [
            skip(experiment, variant, Reason(NEEDS_TWO_GPUS_OR_NONE), kind)
            for experiment in names.ON_DEVICES
            for variant in (names.ONE_DEVICE, names.LOOP, names.THREADS)
        ]
    return skipped


def has_lightning() -> bool:
    return find_spec("lightning") is not None


def _engine(net: str, batch_size: int, steps: int, machine: Machine) -> TrainingVariant:
    """Return our loop in torch's default precision, as in the notes' loop."""
    recipe = {"net": net, "batch_size": batch_size, "lr": LR, "precision": "default"}
    return TrainingVariant(
        **NOTES.model_dump() | recipe,
        kind="engine",
        steps=steps,
        device=machine.device,
        threads=machine.cores,
    )


def _variants(variant: TrainingVariant, p: TrainingParams) -> dict[str, TrainingVariant]:
    """Return our loop as it is, in other precisions, compiled, and on a GPU as CUDA graphs."""
    compiled = p.compile and not missing_for_compile()
    if variant.device != "cuda":
        in_parts, by_compiler = variant.but(in_parts=True), variant.but(compile="default")
        variants = {names.ENGINE: in_parts, names.BF16: in_parts.but(precision="bf16")}
        if compiled:
            variants[names.COMPILED] = by_compiler
            variants[names.COMPILED_BF16] = by_compiler.but(precision="bf16")
        return variants
    graph = variant.but(strategy="graph")
    bf16 = graph.but(precision="bf16")
    variants = {
        names.ENGINE: variant.but(in_parts=True),
        names.GRAPH: graph,
        names.FP32: graph.but(precision="fp32"),
        names.TF32: graph.but(precision="tf32"),
        names.BF16: bf16,
    }
    if compiled:
        variants[names.COMPILED] = graph.but(compile=IN_GRAPHS)
        variants[names.COMPILED_BF16] = bf16.but(compile=IN_GRAPHS)
    return variants


def _on_devices(lenet: TrainingVariant, p: TrainingParams, machine: Machine) -> Variants:
    """Return the variants on one and two devices, for the notes' net and a wider one."""
    if machine.two_devices is None:
        return {}
    one = lenet.but(threads=machine.share)
    variants: Variants = {}
    for experiment, single in {names.NOTES_LENET: one, names.WIDE: one.but(width=p.width)}.items():
        variants[experiment, names.ONE_DEVICE] = single
        variants[experiment, names.LOOP] = single.but(kind="loop", num_gpus=2)
        variants[experiment, names.THREADS] = single.but(num_gpus=2)
    return variants
