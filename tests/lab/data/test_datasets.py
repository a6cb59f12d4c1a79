import numpy as np
import pytest

from lab.core.errors import DataError
from lab.data import datasets, idx
from lab.machine.torchvision_import import torchvision
from tests.helpers import write_data

TRAIN_LABELS = "FashionMNIST/raw/train-labels-idx1-ubyte"


def test_our_reader_agrees_with_torchvisions(tmp_path):
    write_data(tmp_path)
    for half in ("train", "t10k"):
        ours = datasets.read_fashion_mnist(half, tmp_path)
        theirs = torchvision.datasets.FashionMNIST(tmp_path, train=half == "train")
        assert np.array_equal(ours.images, theirs.data.numpy())
        assert np.array_equal(ours.labels, theirs.targets.numpy())
        assert theirs.classes == list(datasets.CLASSES)


def test_missing_data_are_reported_with_the_command_that_fetches_them(tmp_path):
    with pytest.raises(DataError, match="dvc repro fetch"):
        datasets.read_fashion_mnist("train", tmp_path)


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        ([1, 2, 3], r"images \(96, 28, 28\) for 3 labels"),
        ([10] * 96, "label 10 at 0, expected 0 to 9"),
        ([9] * 7 + [10, 255] + [9] * 87, "label 10 at 7, expected 0 to 9"),
    ],
)
def test_labels_that_do_not_fit_are_refused(tmp_path, labels, complaint):
    write_data(tmp_path)
    (tmp_path / TRAIN_LABELS).write_bytes(idx.encode(np.array(labels, dtype=np.uint8)))
    with pytest.raises(DataError, match=complaint):
        datasets.read_fashion_mnist("train", tmp_path)


def test_a_class_without_an_image_is_a_warning(tmp_path, caplog):
    write_data(tmp_path)
    datasets.read_fashion_mnist("train", tmp_path)
    assert caplog.messages == []
    (tmp_path / TRAIN_LABELS).write_bytes(idx.encode(np.arange(96, dtype=np.uint8) % 9))
    assert len(datasets.read_fashion_mnist("train", tmp_path).labels) == 96
    assert caplog.messages == ["WARNING: train-labels-idx1-ubyte: no image of class 9, Ankle boot"]


@pytest.mark.parametrize("text", [b"1 2 3\n1 2\n", b"1 2 x\n", b"\xff"])
def test_a_malformed_table_is_reported_with_its_fix(tmp_path, text):
    write_data(tmp_path)
    (tmp_path / datasets.AIRFOIL_FILE).write_bytes(text)
    with pytest.raises(DataError, match=r"airfoil_self_noise.dat: .*; `rm .*_noise.dat "):
        datasets.read_airfoil(tmp_path)


@pytest.mark.parametrize(
    ("origin", "name"), [("original", "fashion-mnist"), ("synthetic", "synthetic")]
)
def test_results_are_named_after_their_data(tmp_path, origin, name):
    write_data(tmp_path, origin=origin)
    assert datasets.dataset_name(tmp_path) == name


@pytest.mark.parametrize("record", ["{}", "[]", "", '{"fashion_mnist', '{"fashion_mnist": "?"}'])
def test_a_damaged_record_is_reported_with_its_fix(tmp_path, record):
    write_data(tmp_path)
    (tmp_path / datasets.SOURCE_FILE).write_text(record)
    with pytest.raises(DataError, match=r"source.json: damaged .*; `rm .*source.json "):
        datasets.read_source(tmp_path)
