"""A matrix product in the book's four ways (section 12.4): the same arithmetic each time."""

from collections.abc import Callable

import torch
from torch import Tensor


def by_elements(A: Tensor, B: Tensor) -> Tensor:
    """Return A @ B, one dot product of a row and a column at a time."""
    C = torch.empty(A.shape[0], B.shape[1])
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            C[i, j] = torch.dot(A[i], B[:, j])
    return C


def by_columns(A: Tensor, B: Tensor) -> Tensor:
    """Return A @ B, one product of the matrix with a column at a time."""
    C = torch.empty(A.shape[0], B.shape[1])
    for j in range(B.shape[1]):
        C[:, j] = torch.mv(A, B[:, j])
    return C


def by_blocks(A: Tensor, B: Tensor, width: int = 64) -> Tensor:
    """Return A @ B, a block of `width` columns at a time."""
    C = torch.empty(A.shape[0], B.shape[1])
    for j in range(0, B.shape[1], width):
        C[:, j : j + width] = torch.mm(A, B[:, j : j + width])
    return C


WAYS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "one element at a time": by_elements,
    "one column at a time": by_columns,
    "64 columns at a time": by_blocks,
    "all at once": torch.mm,
}
