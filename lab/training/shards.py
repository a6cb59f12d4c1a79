"""Batches in shards, and sums over them that do not depend on which device has which shard.

Floating-point sums depend on their order. Here it is that of a balanced binary tree over the
shards: neighbours first, then neighbouring pairs. A device that has a block of neighbours finds the
sum at one of its nodes, and devices that add up theirs in a tree, too, complete the same tree,
however many there are (EasyScale, Li et al., SC '23, keeps the bits of workers that move between
GPUs; the sums of torch's wrappers change with the number of devices).
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor


def blocks(data: Tensor, num_shards: int, num_blocks: int) -> list[Tensor]:
    """Parts of data (n, ...), each of as many neighbouring shards, which lie in `num_blocks` parts.

    The shards are those of `tensor_split`, of which the first ones may have a row more. It gives
    the same shards again where it cuts a block.

    Raises:
        ValueError: the blocks would not have equally many shards.
    """
    if num_shards % num_blocks:
        raise ValueError(f"expected shards in {num_blocks} equal blocks, got {num_shards} shards")
    sizes = torch.tensor([len(shard) for shard in data.tensor_split(num_shards)])
    return list(data.split(sizes.view(num_blocks, -1).sum(1).tolist()))


def tree_sum(terms: Iterable[Sequence[Tensor]]) -> list[Tensor]:
    """The sum of terms, lists of tensors of the same shapes: ((t0 + t1) + (t2 + t3)) + ...

    It is made in place in the first of each two terms, on its devices, as soon as both are there,
    so that of n terms no more than log2(n) + 1 exist at once where they come from a generator.

    Raises:
        ValueError: the number of terms is no power of two.
    """
    sums: list[list[Tensor]] = []  # of ever smaller parts of the tree, as the digits of a number
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
