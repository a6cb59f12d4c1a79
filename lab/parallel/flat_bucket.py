"""Gradients of replicas that share a process, summed in one go: each replica's in one flat tensor.

The notes sum tensor by tensor (13.5.3): for n replicas 3(n-1) operations each, all through the
first GPU. Here each replica copies its gradients into its bucket by one operation, and one
all-reduce sums the buckets: NCCL's between GPUs, else the notes' own.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.cuda import nccl

from lab.core.loopback import stay_on_loopback
from lab.parallel.replicas import allreduce, grad_of


class FlatBuckets:
    """Buckets for the gradients of replicas, whose parameters are all of one type."""

    def __init__(self, nets: Sequence[nn.Module]) -> None:
        """Lay a bucket out on each replica's device; a net alone needs none."""
        self._params = [list(net.parameters()) for net in nets] if len(nets) > 1 else []
        self._buckets = [bucket_of(params) for params in self._params]
        self._views = [
            views_of(bucket, params)
            for bucket, params in zip(self._buckets, self._params, strict=True)
        ]
        on_gpus = any(bucket.is_cuda for bucket in self._buckets)
        self._between_gpus = on_gpus and nccl.is_available(self._buckets)  # and none is shared
        if self._between_gpus:
            stay_on_loopback()

    def sum_gradients(self) -> None:
        """Give every replica the sum of all replicas' gradients, as `replicas.sum_gradients` does.

        The bits are the same where no NCCL is, or only two GPUs are: with more it adds in an order
        of its own. The gradients become parts of the buckets, which the next sum overwrites.
        """
        # copied, since autograd would add to views of the bucket tensor by tensor, after zeroing it
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
    """One tensor with room for all of `params`, on their device and of their type."""
    [first, *_] = params
    return torch.empty(sum(p.numel() for p in params), dtype=first.dtype, device=first.device)


def views_of(bucket: Tensor, params: Sequence[Tensor]) -> list[Tensor]:
    """Parts of the bucket that lie in memory as the parameters, and so their gradients, do."""
    parts = bucket.split([p.numel() for p in params])
    return [part.as_strided(p.shape, p.stride()) for part, p in zip(parts, params, strict=True)]
