import torch

from lab.data.order import batches


def test_an_epoch_shows_each_image_once_and_leaves_the_remainder():
    endless = batches(10, 4, torch.Generator().manual_seed(0))
    first, second = ([next(endless) for _ in range(2)] for _ in range(2))
    for epoch in (first, second):
        assert [len(rows) for rows in epoch] == [4, 4]
        assert len(set(torch.cat(epoch).tolist())) == 8
    assert not torch.equal(torch.cat(first), torch.cat(second))
