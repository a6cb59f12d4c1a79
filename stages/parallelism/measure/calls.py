"""What torch.distributed sends while a step runs, read off its own operations."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

# of an operation's arguments and the number of processes: bytes that one of them receives, if each
# receives no more than it must (book 13.7.2; Patarasuk and Yuan 2009)
RECEIVED: dict[str, Callable[[Any, int], float]] = {
    "c10d::_allgather_base_": lambda args, n: args[0].nbytes * (n - 1) / n,
    "c10d::_reduce_scatter_base_": lambda args, n: args[1].nbytes * (n - 1) / n,
    "c10d::allreduce_": lambda args, n: _bytes(args[0]) * 2 * (n - 1) / n,
    "_c10d_functional::all_gather_into_tensor": lambda args, n: args[0].nbytes * (n - 1),
    "_c10d_functional::reduce_scatter_tensor": lambda args, n: args[0].nbytes * (n - 1) / n,
    "_c10d_functional::all_reduce": lambda args, n: args[0].nbytes * 2 * (n - 1) / n,
    "_c10d_functional::all_reduce_": lambda args, n: args[0].nbytes * 2 * (n - 1) / n,
    "c10d::recv_": lambda args, n: _bytes(args[0]),
    "c10d::send": lambda args, n: 0,
    "_c10d_functional::wait_tensor": lambda args, n: 0,
    "_c10d_functional::_wrap_tensor_autograd": lambda args, n: 0,
}
# the other end of a call, or what is done with its result
NO_CALL = (
    "c10d::recv_",
    "_c10d_functional::wait_tensor",
    "_c10d_functional::_wrap_tensor_autograd",
)


class Calls(TorchDispatchMode):
    """Counts collectives and messages of this process, and the bytes that it receives by them.

    Attributes:
        count: collectives that this process took part in, and messages that it sent.
        received: bytes.
    """

    def __init__(self, world_size: int) -> None:
        """Begin at nothing."""
        super().__init__()
        self.count, self.received = 0, 0.0
        self._world_size = world_size

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and count.

        Raises:
            ValueError: an operation of torch.distributed whose bytes are not known.
        """
        name = func.name().partition(".")[0]
        if func.namespace in ("c10d", "_c10d_functional"):
            if name not in RECEIVED:
                raise ValueError(f"expected one of {', '.join(RECEIVED)}, got {name}")
            self.count += name not in NO_CALL
            self.received += RECEIVED[name](args, self._world_size)
        return func(*args, **(kwargs or {}))


def _bytes(tensors: list[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
