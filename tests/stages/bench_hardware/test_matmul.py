import pytest
import torch

from stages.bench_hardware.matmul import WAYS


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("shape", [(3, 4, 5), (7, 9, 130), (1, 1, 1)])
def test_every_way_is_the_product(name, shape):
    rows, inner, columns = shape
    A, B = torch.rand(rows, inner), torch.rand(inner, columns)
    torch.testing.assert_close(WAYS[name](A, B), A @ B)
