import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_hardware.page import claims


def test_one_setting_alone_is_not_testable():
    with pytest.raises(NotTestableError):
        claims.all_cores_over_one([1, 1], [5, 6])
    with pytest.raises(NotTestableError, match="4096 and 262144"):
        claims.second_over_first([4096.0, 8192.0], [5, 6])
