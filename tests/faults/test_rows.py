"""Every fault of the list has its test, or a reason why it needs none."""

import re

from tests.helpers import ROOT

COUNTS = {"F": 23, "P": 16, "T": 26, "B": 11, "R": 8, "D": 12}
DEFECTS = {"H": 2, "M": 7, "L": 14}
ROW = re.compile(r"^\| ([A-Z]\d+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
MARK = re.compile(r"mark\.faults\(([^)]*)\)")


def marked() -> dict[str, set[str]]:
    """By row: the files with a test that says that it tries it."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for rows in MARK.findall(path.read_text()):
            for row in re.findall(r'"(\w+)"', rows):
                found.setdefault(row, set()).add(path.relative_to(ROOT / "tests").as_posix())
    return found


def test_every_row_has_a_test_or_a_reason():
    rows = ROW.findall((ROOT / "tests/faults/README.md").read_text())
    wanted = {f"{kind}{i + 1}" for kind, n in (COUNTS | DEFECTS).items() for i in range(n)}
    assert sorted(row for row, _, _ in rows) == sorted(wanted)
    tests = marked()
    for row, _, where in rows:
        if files := re.findall(r"`([\w/]+\.py)`", where):
            assert set(files) == tests.get(row, set()), f"{row}: other files say that they try it"
        else:
            assert len(where.split()) >= 5, f"{row}: a reason, in words"
            assert row not in tests, f"{row} has a test: name its file"
    assert set(tests) <= wanted, f"unknown rows: {set(tests) - wanted}"
