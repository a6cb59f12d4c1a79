import pytest

from stages.landscapes.page import claims


def test_bend_is_a_second_difference():
    assert claims.roughness_ratio([0, 1, 4, 9], [0, 1, 2, 4]).value == pytest.approx(2)
