"""A net on a run's devices: what all forms of a step of SGD have in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lab.data.images import LabelledImages
from lab.machine.compiler_errors import compiler_errors
from lab.machine.devices import precision_on
from lab.nets.models import UInt8Input
from lab.optim.update_rules import nesterov
from lab.parallel.replicas import Update, replicate, sgd
from lab.parallel.workers import thread_pool
from lab.training.run_params import NOTES, RunParams
from lab.training.update_steps import OptimizerStep

# params: by name; buffers: by name, one dictionary for each replica of all processes; updates: the
# state of the first replica's, which all replicas share
State = dict[str, Any]


class Strategy(ABC):
    """A net on a run's devices.

    `nets` are the replicas in this process, one on each of `devices`. What concerns the other
    processes of a run is the identity here: `processes.py` has those.
    """

    shards_per_device = 1

    def __init__(
        self, net: nn.Module, devices: Sequence[torch.device], recipe: RunParams = NOTES
    ) -> None:
        """Copy `net`, which takes float images (n, 1, 28, 28), to `devices`.

        Raises:
            MachineError: it is to be compiled, and compilers do not load here.
        """
        self.recipe = recipe
        self.devices = list(devices)
        precision = precision_on(self.devices[0], recipe.precision)
        self.nets = [UInt8Input(replicate(net, device), precision) for device in devices]
        self.compiled = recipe.compile != "none"
        if self.compiled:
            # copies to evaluate with are not compiled
            with compiler_errors():
                for on_bytes in self.nets:
                    on_bytes.compile(mode=recipe.compile, dynamic=False)
        rule = partial(nesterov, beta=recipe.momentum)
        self.updates: list[Update] = [
            OptimizerStep(rule, recipe.weight_decay)
            if recipe.momentum or recipe.weight_decay
            else sgd
            for _ in self.nets
        ]
        self.pool = thread_pool(len(devices), torch.get_num_threads())

    @abstractmethod
    def step(self, X: Tensor, y: Tensor, lr: float, batch_size: int) -> Tensor:
        """Take a step on this process's share of a batch: uint8 images X (n, 28, 28), y (n,).

        The share is one of `batch_size` images. Returns the loss summed over it, a scalar on the
        first device.
        """

    def step_on(
        self, train_set: LabelledImages, rows: Tensor, lr: float, batch_size: int
    ) -> Tensor:
        """Take a step on some rows of images on the first device; the result as of `step`.

        It may be overwritten by the next step's.
        """
        X, y = (tensor.index_select(0, rows) for tensor in train_set)
        return self.step(X, y, lr, batch_size)

    @property
    def num_processes(self) -> int:
        """Of the run."""
        return 1

    @property
    def is_first(self) -> bool:
        """Whether this is the process that keeps the books and writes."""
        return True

    @property
    def num_shards(self) -> int:
        """That each batch is cut into, by all processes."""
        return self.num_processes * len(self.devices) * self.shards_per_device

    def share(self, data: Tensor) -> Tensor:
        """This process's part of what all processes divide among them."""
        return data

    def total(self, values: Tensor) -> Tensor:
        """The sum of `values` over the processes."""
        return values

    def largest(self, value: int) -> int:
        """The largest `value` of the processes."""
        return value

    def any(self, flag: bool) -> bool:
        """Whether `flag` is set in any process."""
        return bool(self.largest(int(flag)))

    def furthest(self, content: bytes | None, reached: int) -> bytes | None:
        """What that process holds which has reached most; None if none holds anything."""
        return content

    def evaluators(self) -> list[UInt8Input]:
        """Copies of the first replica and its running statistics, one for each device."""
        return [replicate(self.nets[0], device).eval() for device in self.devices]

    def state(self) -> State:
        """Copies on the CPU of all that training changes."""
        return {
            "params": {name: to_cpu(p) for name, p in self.nets[0].net.named_parameters()},
            "buffers": [
                {name: to_cpu(b) for name, b in net.net.named_buffers()} for net in self.nets
            ],
            "updates": [
                [to_cpu(part) for part in each]
                for rule in self._rules()[:1]
                for each in rule.states
            ],
        }

    def load_state(self, state: State) -> None:
        """Take over what `state` returned in a run of the same net on as many devices."""
        for net, buffers in zip(self.nets, state["buffers"], strict=True):
            net.net.load_state_dict({**state["params"], **buffers})
        for rule, device in zip(self._rules(), self.devices, strict=False):
            rule.states = [
                tuple(part.to(device, copy=True) for part in each) for each in state["updates"]
            ]

    def _rules(self) -> list[OptimizerStep]:
        """The updates that keep a state, one for each replica; plain SGD keeps none."""
        return [update for update in self.updates if isinstance(update, OptimizerStep)]

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()


def to_cpu(tensor: Tensor) -> Tensor:
    """A copy on the CPU, without its history."""
    return tensor.detach().to("cpu", copy=True)
