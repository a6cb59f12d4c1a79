import torch

from lab.data.datasets import read_fashion_mnist
from lab.data.images import to_tensors
from lab.nets.models import to_float
from stages.bench_input.measure.preparation import preprocess, read_images, stored_images
from tests.helpers import write_data


def test_what_is_read_and_preprocessed_is_what_resident_images_are(project):
    write_data(project / "data", train=20, test=10)
    images, _ = to_tensors(read_fashion_mnist("train"))
    stored, rows = stored_images(), [7, 0, 7]
    read = read_images(stored.data, rows)
    assert [each.tolist() for each in read] == images[rows].tolist()
    assert torch.equal(preprocess(read, stored.transform), to_float(images[rows]))
