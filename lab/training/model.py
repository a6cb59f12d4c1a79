"""A net on a run's devices, with all state that training changes."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lab.data.images import LabelledImages
from lab.machine.compiler_errors import compiler_errors
from lab.machine.devices import precision_on
from lab.nets.models import UInt8Input
from lab.parallel.replicas import cross_entropy, replicate
from lab.parallel.workers import thread_pool
from lab.training.processes import Alone
from lab.training.run_params import NOTES, RunParams
from lab.training.update_steps import OptimizerStep, updates_of

# params: by name; buffers: by name, one dictionary per replica over all processes; updates: the
# optimizer's state per parameter, which is the same in all replicas
State = dict[str, Any]
# steps (see lab/training/steps), on images X (n, 28, 28) and y (n,), or on rows of a train set
BatchStep = Callable[[Tensor, Tensor, float, int], Tensor]
RowsStep = Callable[[LabelledImages, Tensor, float, int], Tensor]


class Model:
    """A net on a run's devices.

    Attributes:
        nets: The replicas in this process, one on each of `devices`.
        loss: A batch's loss: the summed cross entropy, with the recipe's label smoothing.
        updates: The update of each replica's parameters.
        processes: This process among the run's processes.
        shards_per_device: Number of shards of a device's share of a batch; 0: the share is not
            split, and each replica has its own running statistics.
    """

    def __init__(
        self,
        net: nn.Module,
        devices: Sequence[torch.device],
        recipe: RunParams = NOTES,
        processes: Alone | None = None,
        shards_per_device: int = 0,
    ) -> None:
        """Copy `net`, which takes float images (n, 1, 28, 28), to `devices`.

        Raises:
            MachineError: the recipe compiles the net, and compilers do not load here.
        """
        self.recipe, self.processes = recipe, processes or Alone()
        self.devices, self.shards_per_device = list(devices), shards_per_device
        precision = precision_on(self.devices[0], recipe.precision)
        self.nets = [UInt8Input(replicate(net, device), precision) for device in devices]
        if recipe.compile != "none":
            # copies for evaluation are not compiled
            with compiler_errors():
                for on_bytes in self.nets:
                    on_bytes.compile(mode=recipe.compile, dynamic=False)
        self.loss = partial(cross_entropy, label_smoothing=recipe.label_smoothing)
        self.updates = [updates_of(net, recipe) for net in self.nets]
        self.pool = thread_pool(len(devices), torch.get_num_threads())

    @property
    def num_shards(self) -> int:
        """Number of shards of a batch over all processes."""
        return self.processes.world_size * len(self.devices) * (self.shards_per_device or 1)

    def share(self, data: Tensor) -> Tensor:
        """Return this process's part of `data` (n, ...)."""
        return self.processes.share(data, self.num_shards)

    def evaluators(self) -> list[UInt8Input]:
        """Return copies of the run's first replica with its running statistics, one per device."""
        first = replicate(self.nets[0], self.devices[0]).eval()
        for buffer in first.buffers():
            buffer.copy_(self.processes.of_first(buffer))
        return [replicate(first, device) for device in self.devices]

    def state(self) -> State:
        """Return copies on the CPU of everything that training changes."""
        buffers = [dict(net.net.named_buffers()) for net in self.nets]
        if self.shards_per_device:
            buffers = [{name: to_cpu(b) for name, b in buffers[0].items()}]
        else:
            of_ranks = [
                {n: self.processes.gathered(to_cpu(b)) for n, b in own.items()} for own in buffers
            ]
            buffers = [
                {name: values[rank] for name, values in own.items()}
                for rank in range(self.processes.world_size)
                for own in of_ranks
            ]
        return {
            "params": {name: to_cpu(p) for name, p in self.nets[0].net.named_parameters()},
            "buffers": buffers,
            "updates": [
                tuple(map(to_cpu, state)) for rule in self._rules()[:1] for state in rule.states
            ],
        }

    def load_state(self, state: State) -> None:
        """Load what `state` returned in a run of the same net.

        That run had the same number of devices or, on any number of them, of shards.
        """
        count, rank = len(self.nets), self.processes.rank
        buffers = state["buffers"]
        own = buffers * count if self.shards_per_device else buffers[rank * count :][:count]
        for net, its in zip(self.nets, own, strict=True):
            net.net.load_state_dict({**state["params"], **its})
        for rule in self._rules():
            for parts, saved in zip(rule.states, state["updates"], strict=True):
                for part, value in zip(parts, saved, strict=True):
                    part.copy_(value)

    def _rules(self) -> list[OptimizerStep]:
        """Return the updates that have a state, one per replica; plain SGD has none."""
        return [update for update in self.updates if isinstance(update, OptimizerStep)]

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()


def to_cpu(tensor: Tensor) -> Tensor:
    """Return a detached copy on the CPU."""
    return tensor.detach().to("cpu", copy=True)
