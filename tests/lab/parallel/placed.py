"""Tensors that say on which GPU they are, computed on the processor: for machines without any.

An operation on tensors of two devices fails, as it does on GPUs, unless it copies; copies from one
device to another are counted. All else is torch's own, autograd and threads included, and so are
the numbers.
"""

from collections import Counter

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only

HOST = torch.device("cpu")
# tensors copied, by the device that they come from and the one that they go to
crossed: Counter[tuple[torch.device, torch.device]] = Counter()
COPIES = {torch.ops.aten.copy_.default, torch.ops.aten._foreach_copy_.default}


class Placed(torch.Tensor):
    """A tensor on `device`, whose numbers are in `content`."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, content, device):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            content.shape,
            strides=content.stride(),
            storage_offset=content.storage_offset(),
            dtype=content.dtype,
            device=content.device,
        )

    def __init__(self, content, device):
        self.content, self.place = content, device

    @property
    def device(self):
        return self.place

    @property
    def is_cuda(self):
        return True

    def get_device(self):
        return self.place.index

    def to(self, *args, **kwargs):
        return moved(self, *args, **kwargs)

    def cpu(self):
        return moved(self, HOST)

    def __repr__(self):
        return f"Placed({self.content}, {self.place})"

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        places = [place_of(tensor) for tensor in tensors((args, kwargs)) if not is_number(tensor)]
        if len(set(places)) > 1:
            assert function in COPIES, f"{function} takes tensors of {', '.join(map(str, places))}"
            for target, source in zip(*map(tensors, args[:2]), strict=True):
                count_crossing(place_of(source), place_of(target))
        with torch.no_grad():
            result = function(*contents(args), **contents(kwargs))
        placed = tree_map_only(torch.Tensor, lambda tensor: Placed(tensor, places[0]), result)
        return return_and_correct_aliasing(function, args, kwargs, placed)


class OnGpus(TorchFunctionMode):
    """Where GPUs are asked for, tensors are placed on them."""

    def __enter__(self):
        # a net's parameters are made anew when it moves, as they are where its device is another
        torch.__future__.set_overwrite_module_params_on_conversion(True)
        return super().__enter__()

    def __exit__(self, *error):
        torch.__future__.set_overwrite_module_params_on_conversion(False)
        super().__exit__(*error)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is torch.Tensor.to:
            return moved(*args, **kwargs)
        device = kwargs.get("device")
        if device is None or torch.device(device).type != "cuda":
            return function(*args, **kwargs)
        return Placed(function(*args, **{**kwargs, "device": HOST}), torch.device(device))


def moved(tensor, *args, **kwargs):
    """`tensor.to(...)`; a copy that crosses devices counts."""
    device, dtype, _, memory_format = torch._C._nn._parse_to(
        *args, **{name: value for name, value in kwargs.items() if name != "copy"}
    )
    here = place_of(tensor)
    there = here if device is None else device
    dtype = tensor.dtype if dtype is None else dtype
    if (here, tensor.dtype) == (there, dtype) and not kwargs.get("copy"):
        return tensor
    assert here == there or not (tensor.requires_grad and torch.is_grad_enabled()), "no graph"
    count_crossing(here, there)
    inner = tensor.content if isinstance(tensor, Placed) else tensor
    memory_format = memory_format or torch.preserve_format
    copied = inner.detach().to(dtype, copy=True, memory_format=memory_format)
    return copied if there == HOST else Placed(copied, there)


def count_crossing(here, there):
    if here != there:
        crossed[here, there] += 1


def place_of(tensor):
    return tensor.place if isinstance(tensor, Placed) else HOST


def is_number(tensor):
    """A number of the host's, which operations of every device take."""
    return not isinstance(tensor, Placed) and tensor.ndim == 0


def tensors(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def contents(tree):
    return tree_map_only(Placed, lambda tensor: tensor.content, tree)
