"""The rules of the claims about landscapes."""

import pytest

from stages.landscapes.page import claims

FLAT, BENT = [0, 0.1, 0], [0, 1, 0]
MINIMUM, SADDLE, MAXIMUM = (0.0, 1.0), (0.5, 0.5), (1.0, 0.0)  # shares of neighbours: lower, higher


def test_a_bend_is_a_second_difference():
    assert claims.roughness_ratio([0, 1, 4, 9], [0, 1, 2, 4]).value == pytest.approx(2)
