"""Flat buckets: one all-reduce sums all gradients of replicas that share a process.

The notes sum tensor by tensor (13.5.3): with n replicas, 3(n-1) operations per tensor, all through
the first GPU. Here each replica copies its gradients into its bucket by one operation, and one
all-reduce sums the buckets: NCCL's between GPUs, else the notes' own.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.cuda import nccl

from lab.core.loopback import stay_on_loopback
from lab.parallel.replicas import allreduce, grad_of


class FlatBuckets:
    """Buckets for the gradients of replicas; all parameters have one type."""

    def __init__(self, nets: Sequence[nn.Module]) -> None:
        """Allocate a bucket on each replica's device; a single net needs none."""
        self._params = [list(net.parameters()) for net in nets] if len(nets) > 1 else []
        self._buckets = [bucket_of(params) for params in self._params]
        self._views = [
            views_of(bucket, params)
            for bucket, params in zip(self._buckets, self._params, strict=True)
        ]
        on_gpus = any(bucket.is_cuda for bucket in self._buckets)
        self._between_gpus = on_gpus and nccl.is_available(self._buckets)  # and no GPU is shared
        if self._between_gpus:
            stay_on_loopback()

    def sum_gradients(self) -> None:
        """Give every replica the sum of all replicas' gradients, as `replicas.sum_gradients` does.

        The bits are the same without NCCL or on two GPUs; on more GPUs, NCCL adds in its own order.
        The gradients become views of the buckets, which the next sum overwrites.
        """
        # copied: autograd would zero views of the bucket, and add to them tensor by tensor
        for params, views in zip(self._params, self._views, strict=True):
            torch._foreach_copy_(views, [grad_of(p) for p in params])
        if self._between_gpus:
            nccl.all_reduce(self._buckets)
        else:
            allreduce(self._buckets)
        for params, views in zip(self._params, self._views, strict=True):
            for param, view in zip(params, views, strict=True):
                param.grad = view


def bucket_of(params: Sequence[Tensor]) -> Tensor:
    """Return one tensor with room for all of `params`, on their device and of their type."""
    [first, *_] = params
    return torch.empty(sum(p.numel() for p in params), dtype=first.dtype, device=first.device)


def views_of(bucket: Tensor, params: Sequence[Tensor]) -> list[Tensor]:
    """Return views of the bucket with the memory layout of the parameters and their gradients."""
    parts = bucket.split([p.numel() for p in params])
    return [part.as_strided(p.shape, p.stride()) for part, p in zip(parts, params, strict=True)]
