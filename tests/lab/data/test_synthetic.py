import numpy as np

from lab.data import synthetic


def test_images_have_fashion_mnists_format_and_even_classes():
    images, labels = synthetic.fashion(1003, seed=0)
    assert images.shape == (1003, 28, 28)
    assert images.dtype == labels.dtype == np.uint8
    assert set(np.bincount(labels)) == {100, 101}
    assert images.min() == 0
    assert images.max() == 255


def test_the_classes_can_be_learned_but_not_at_a_glance():
    """A nearest-class-mean rule does far better than chance and far worse than perfectly."""
    images, labels = synthetic.fashion(2000, seed=3)
    test_images, test_labels = synthetic.fashion(1000, seed=4)
    means = np.stack([images[labels == c].mean(0).ravel() for c in range(10)])
    distances = ((test_images.reshape(1000, 1, -1) - means) ** 2).sum(-1)
    accuracy = (distances.argmin(1) == test_labels).mean()
    assert 0.4 < accuracy < 0.95


def test_the_airfoil_look_alike_has_a_signal_and_noise():
    table = synthetic.airfoil(seed=0)
    assert table.shape == (1503, 6)
    X = np.column_stack([np.ones(1503), table[:, :5]])
    residual = table[:, 5] - X @ np.linalg.lstsq(X, table[:, 5], rcond=None)[0]
    assert 0.3 < residual.var() / table[:, 5].var() < 0.95
