"""The IDX format of MNIST and Fashion-MNIST: a 4-byte magic, big-endian sizes, then the bytes.

Format: http://yann.lecun.com/exdb/mnist (magic = 0, 0, type code, number of dimensions).
"""

import math
import struct

import numpy as np
from numpy.typing import NDArray

UINT8 = 0x08


def encode(array: NDArray[np.uint8]) -> bytes:
    """Encode an array as an IDX file; the inverse of `decode`."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, UINT8, array.ndim, *array.shape)
    return header + array.tobytes()


def decode(content: bytes, ndim: int) -> NDArray[np.uint8]:
    """Decode an IDX file to a uint8 array of `ndim` dimensions, a read-only view of `content`.

    The header is compared with the file's length before anything is allocated, so a wrong header
    costs nothing.

    Raises:
        ValueError: wrong magic, type or number of dimensions, an empty dimension, or a length that
            does not match the header's sizes.
    """
    header_size = 4 + 4 * ndim
    if len(content) < header_size:
        raise ValueError(f"{len(content)} bytes are too few for an IDX header of {header_size}")
    magic = tuple(content[:4])
    if magic != (0, 0, UINT8, ndim):
        raise ValueError(f"IDX magic is {magic}, expected {(0, 0, UINT8, ndim)}")
    shape = struct.unpack(f">{ndim}I", content[4:header_size])
    expected = math.prod(shape)
    if expected == 0 or expected != len(content) - header_size:
        raise ValueError(
            f"IDX header promises {shape}, {expected} bytes; {len(content) - header_size} follow"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=header_size).reshape(shape)
