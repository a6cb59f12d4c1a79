import pytest

from lab.claims.evidence import NotTestableError
from stages.bench_input.page import claims


def test_nobody_waits_for_one_device():
    with pytest.raises(NotTestableError):
        claims.idle_share(1, [1.0] * 8, [3.0] * 8)
