import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lab.data import idx

GOOD = idx.encode(np.arange(24, dtype=np.uint8).reshape(2, 3, 4))


@given(hnp.arrays(np.uint8, hnp.array_shapes(min_dims=1, max_dims=3, max_side=7)))
def test_decode_inverts_encode(array):
    assert np.array_equal(idx.decode(idx.encode(array), array.ndim), array)


def test_encode_writes_the_published_layout():
    assert (
        idx.encode(np.array([7, 9], dtype=np.uint8))
        == b"\0\0\x08\x01" + b"\0\0\0\x02" + b"\x07\x09"
    )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "too few"),
        (GOOD[:10], "too few"),
        (b"\0\0\x0d" + GOOD[3:], "magic"),  # floats
        (b"\x1f\x8b" + GOOD[2:], "magic"),  # still compressed
        (GOOD[:3] + b"\x01" + GOOD[4:], "magic"),  # a different number of dimensions
        (GOOD[:-1], "promises"),
        (GOOD + b"\0", "promises"),
        (GOOD[:4] + struct.pack(">I", 0) + GOOD[8:], "promises"),
        # allocates nothing
        (GOOD[:4] + struct.pack(">III", 2**31, 2**31, 2**31) + GOOD[16:], "promises"),
    ],
)
def test_a_lying_header_is_refused(content, complaint):
    with pytest.raises(ValueError, match=complaint):
        idx.decode(content, 3)


@given(st.binary(max_size=40))
def test_any_bytes_give_an_array_or_a_value_error(content):
    with contextlib.suppress(ValueError):
        assert idx.decode(content, 2).ndim == 2
