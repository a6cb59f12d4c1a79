import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lab.training.shards import blocks, tree_sum

powers = st.integers(0, 4).map(lambda exponent: 1 << exponent)


@given(st.integers(0, 100), powers, powers)
def test_blocks_are_cut_into_the_same_shards_as_the_whole(num_rows, num_blocks, each):
    rows = torch.arange(num_rows)
    shards = rows.tensor_split(num_blocks * each)
    again = [
        shard
        for block in blocks(rows, num_blocks * each, num_blocks)
        for shard in block.tensor_split(each)
    ]
    assert [shard.tolist() for shard in again] == [shard.tolist() for shard in shards]


def written_out(values):
    """Add the values by recursion over halves, as tree_sum's docstring says."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return written_out(values[:half]) + written_out(values[half:])


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
def test_terms_are_added_as_a_balanced_tree_however_its_branches_are_split(count):
    generator = torch.Generator().manual_seed(count)
    values = list(torch.randn(count, 1000, generator=generator))
    expected = written_out(values)
    for num_blocks in (1 << e for e in range(count.bit_length())):
        each = count // num_blocks
        branches = [
            tree_sum([v.clone()] for v in values[i : i + each]) for i in range(0, count, each)
        ]
        [total] = tree_sum(branches)
        assert torch.equal(total, expected)
    in_a_row = sum(values[1:], values[0])
    assert count < 4 or not torch.equal(in_a_row, expected), "the order shows"
