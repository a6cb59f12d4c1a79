"""A machine's results in a file; what snapshots hold is in test_compare."""

import pytest

from lab.core.errors import ParamsError
from lab.tools import references


@pytest.mark.parametrize("name", ["", "../x", "..", "a/b", "a b", "-a", "ä", "a" * 65])
def test_a_name_that_is_no_file_name_is_refused(project, name):
    with pytest.raises(ParamsError, match="expected at most 64 letters, digits, _, - and"):
        references.snapshot(name)
    assert not (project / references.REFERENCE).exists()
