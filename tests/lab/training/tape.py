"""What a CUDA graph does, on a processor: operations taken down once, and run again as they were.

A replay runs the same operations on the same memory, with whatever Python numbers they were given:
what a step reads in Python, or makes anew outside, is as wrong here as it is on a GPU.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

WARM_UPS = 1
# for whose result the host waits, or whose size only the device knows
WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "_unique2", "is_nonzero", "equal"}


class Tape(TorchDispatchMode):
    """Operations, in their order, with what they read and wrote."""

    def __init__(self):
        super().__init__()
        self.operations = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.operations.append((function, *map(detached, (args, kwargs or {}, result))))
        return result

    @torch.no_grad()
    def replay(self):
        """Run all of it again; each result takes the place in memory of the one taken down."""
        for function, args, kwargs, result in self.operations:
            there = storages((args, kwargs))
            for old, new in zip(tensors(result), tensors(function(*args, **kwargs)), strict=True):
                if storage(old) not in there:  # else it is a view, or written in place
                    old.copy_(new)

    def names(self):
        """What runs on the device: views are not among it."""
        return [
            function._overloadpacket.__name__
            for function, args, kwargs, result in self.operations
            if not function.is_view
        ]

    def strangers(self, known):
        """The operations that read memory which is neither known nor made on the tape."""
        made = set(map(storage, known))
        found = []
        for function, args, kwargs, result in self.operations:
            if not storages((args, kwargs)) <= made:
                found.append(str(function))
            made |= storages(result)
        return found


def recorded_here(work):
    """As `lab.machine.gpus.graphs.recorded`, with a tape."""
    for _ in range(WARM_UPS):
        work()
    with Tape() as tape:
        returned = work()
    return tape.replay, returned


def detached(tree):
    return tree_map_only(torch.Tensor, torch.Tensor.detach, tree)


def tensors(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def storage(tensor):
    return tensor.untyped_storage().data_ptr()


def storages(tree):
    return set(map(storage, tensors(tree)))
