"""Batches in shards, and sums over them that do not depend on which device has which shard.

Floating-point sums depend on their order. Here the order is a balanced binary tree over the shards:
neighbours first, then neighbouring pairs. A device with a block of neighbours computes the sum at
one node of the tree. Devices that add up their sums in a tree complete the same tree, however many
there are. (EasyScale, Li et al., SC '23, keeps the bits of workers that move between GPUs. The sums
of torch's wrappers change with the number of devices.)
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor


def blocks(data: Tensor, num_shards: int, num_blocks: int) -> list[Tensor]:
    """Split data (n, ...) into `num_blocks` blocks of equally many neighbouring shards.

    The shards are those of `tensor_split`: the first ones may have one row more. `tensor_split` of
    a block gives the same shards.

    Raises:
        ValueError: the blocks would not have equally many shards.
    """
    if num_shards % num_blocks:
        raise ValueError(f"expected shards in {num_blocks} equal blocks, got {num_shards} shards")
    sizes = torch.tensor([len(shard) for shard in data.tensor_split(num_shards)])
    return list(data.split(sizes.view(num_blocks, -1).sum(1).tolist()))


def tree_sum(terms: Iterable[Sequence[Tensor]]) -> list[Tensor]:
    """Return the sum of terms, lists of tensors of the same shapes: ((t0 + t1) + (t2 + t3)) + ...

    Each pair is summed in place in its first term, on its devices, as soon as both terms are there.
    So if n terms come from a generator, at most log2(n) + 1 exist at a time.

    Raises:
        ValueError: the number of terms is no power of two.
    """
    sums: list[list[Tensor]] = []  # of ever smaller subtrees, like the digits of a binary number
    for count, term in enumerate(terms, 1):
        sums.append(list(term))
        for _ in range((count & -count).bit_length() - 1):
            right = sums.pop()
            left = sums[-1]
            here = [other.to(own.device) for own, other in zip(left, right, strict=True)]
            torch._foreach_add_(left, here)
    if len(sums) != 1:
        raise ValueError("expected a power of two of terms to add up in a balanced tree")
    return sums[0]
