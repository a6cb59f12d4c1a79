import pytest

from lab.core.errors import LONGEST_LINE, LabError, StoppedError


@pytest.mark.parametrize(
    ("quoted", "shown"),
    [
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("a\rERROR: b", "a\\rERROR: b"),
        ("a\u2028b\x0cc", "a\\u2028b\\x0cc"),
        ("\ud800", "\\ud800"),
        ("\u202e.exe", "\\u202e.exe"),
        ("żółw 衬衫 😀", "żółw 衬衫 😀"),
    ],
)
def test_what_a_message_quotes_controls_no_terminal_and_makes_no_line(quoted, shown):
    message = str(LabError(f"a.json: {quoted} is no number; delete it"))
    assert message == f"a.json: {shown} is no number; delete it"
    assert len(message.splitlines()) == 1
    message.encode()


def test_a_long_line_keeps_its_end_and_lines_stay_lines():
    first, second = str(LabError("a: " + "b" * 10**6 + "; delete it\nc; d")).split("\n")
    assert len(first) == LONGEST_LINE
    assert first.startswith("a: bbb")
    assert first.endswith("bbb; delete it")
    assert second == "c; d"
    assert str(StoppedError("a; b", 2)) == "a; b"
