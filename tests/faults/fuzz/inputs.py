"""What is tried: contents of files, made of valid ones, of hostile ones, and of nothing."""

import csv
import io
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from hypothesis import strategies as st

Kind = Literal["bytes", "text", "json", "yaml", "csv"]
Contents = st.SearchStrategy[bytes]

SCRIPT = "<script>alert(1)</script>"
DEEP = 20_000  # brackets: more than any parser's recursion
NUMBERS = (0, 1, -1, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1)
VALUES: tuple[Any, ...] = (
    *(None, True, False, "", " ", [], {}, [[]], {"": {}}),
    *(float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, -0.0, 1e-5, 10**400, *NUMBERS),
    *("NaN", "inf", "1e999", "-", "none", "0x10", "1_000", "2020-01-01", "skipped: so"),
    *("a" * 5000, "é€😀", "\ud800", "\x1b[2J\x07", "a\nERROR: b", "\u2028", "\x00", "\u202e"),
    *(SCRIPT, "../../etc/passwd", "/etc/passwd", "${x}", "{0.__class__}"),
    *("$(touch canary)", "; touch canary", "%s%n", "| a |", "`code`"),
)
TOKENS: dict[Kind, tuple[bytes, ...]] = {
    "bytes": (b"\0" * 64, b"\xff" * 64, b"PK\x05\x06", b"%!PS", b"\x1f\x8b\x08"),
    "text": (b"\0", b"\xff", b'"', b"\n\n", b"\r", b"{", b"}", b"msgid", b"\\x", b"#~ ", b"[9]"),
    "json": (b"{", b"[" * DEEP, b"]", b'"', b"NaN", b"1e999", b"1" * 5000, b"\\ud800", b",", b"\0"),
    "yaml": (
        *(
            b"- ",
            b"? ",
            b": ",
            b"\t",
            b"&a ",
            b"*a",
            b"<<: *a\n",
            b"!!python/name:os.system ",
            b"|",
        ),
        *(
            b"[" * 2000,
            b"{a: " * 2000,
            b"---\n",
            b"...\n",
            b"%YAML 1.1\n",
            b"\0",
            b"\xff",
            b"!!int ",
        ),
        *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"#", b"'", b'"', b"0o7", b"1e-3", b".nan", b"~"),
    ),
    "csv": (b",", b'"', b"\n", b"\r", b",,,,", b"\0", b"\xff", b"nan", b"1e999", b"a" * 140_000),
}
HOSTILE: dict[Kind, tuple[bytes, ...]] = {
    "bytes": (b"",),
    "text": (b"", b"\xff\xfe", b"\0" * 100),
    "json": (
        *(b"", b"null", b"1", b'"a"', b"[]", b"{}", b"{", b"\xff\xfe{\0}\0", b"NaN", b'{"a": 1,}'),
        *(b"[" * DEEP, b'{"a":' * DEEP, b'{"a": ' + b"9" * 5000 + b"}", b'{"a": 1, "a": 2}'),
    ),
    "yaml": (
        *(b"", b"[]", b"a", b"a: 1\na: 2\n", b"a:\n\t- b\n", b"? [a]\n: b\n", b"1: 2\nnull: 3\n"),
        b"a: &a [x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 8)) for n in range(98, 108)
        ),
        *(b"a: !!python/object/apply:os.system [touch canary]\n", b"a: &a [*a]\n", b"a: *b\n"),
        *(b"[" * 3000, b"{a: " * 3000, b"a: 2020-99-99\n", b"a: !!binary =\n", b"a: !!int x\n"),
        *(b"a: !!timestamp x\n", b"a: !!float x\n", b"a: !!omap x\n", b"<<: 1\n", b"a: 0b\n"),
    ),
    "csv": (
        b"",
        b"\n",
        b"a",
        b"a,a\n1,2\n",
        b"a,b\n1\n",
        b"a,b\n1,2,3\n",
        b'a\n"1\n',
        b"\xff\n1\n",
    ),
}


def contents(kind: Kind, seeds: Sequence[bytes]) -> Contents:
    """Contents of a file of which `seeds` are valid ones."""
    tried = [_edited(kind, [*seeds, *HOSTILE[kind]]), st.sampled_from([*seeds, *HOSTILE[kind]])]
    if kind in ("json", "yaml"):
        valid = [json.loads(seed) for seed in seeds if seed.lstrip()[:1] == b"{"]
        texts = [json.dumps(document) for document in valid]
        tried = [*tried, _changed(texts).map(_as_json), DOCUMENTS.map(_as_json), *tried[:1]]
    if kind == "csv":
        texts = [json.dumps(list(csv.reader(io.StringIO(seed.decode())))) for seed in seeds]
        tried = [*tried, _changed(texts).map(_as_csv), DOCUMENTS.map(_as_csv)]
    return st.one_of(tried)


LEAVES = st.sampled_from(VALUES) | st.integers() | st.floats() | st.text(max_size=20)
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def _as_json(document: Any) -> bytes:
    """The document, of which YAML 1.2 is a superset: both kinds are written so."""
    return json.dumps(document).encode()


def _as_csv(document: Any) -> bytes:
    """A table whose rows and cells are whatever the document has."""
    text = io.StringIO()
    rows = document if isinstance(document, list) else [document]
    for row in rows:
        cells = row if isinstance(row, list) else [row]
        text.write(",".join(_cell(cell) for cell in cells) + "\n")
    return text.getvalue().encode(errors="surrogatepass")


def _cell(value: Any) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


@st.composite
def _changed(draw: st.DrawFn, texts: Sequence[str]) -> Any:
    """A valid document in which up to three values were replaced, deleted, renamed, retyped."""
    document = json.loads(draw(st.sampled_from(texts or ["{}"])))
    for _ in range(draw(st.integers(1, 3))):
        if places := list(_places(document)):
            holder, key = places[draw(st.integers(0, len(places) - 1))]
            change = draw(
                st.sampled_from(("replace", "replace", "delete", "rename", "retype", "wrap"))
            )
            value = holder[key]
            if change == "replace":
                holder[key] = draw(LEAVES) if draw(st.booleans()) else draw(DOCUMENTS)
            elif change == "delete":
                del holder[key]
            elif change == "rename" and isinstance(holder, dict):
                holder[draw(st.text(max_size=8)) or f"{key} "] = holder.pop(key)
            elif change == "rename":
                holder.extend(holder[:50])
            elif change == "retype":
                holder[key] = [value] if isinstance(value, str) else json.dumps(value)
            else:
                holder[key] = {"a": value}
    return document


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every value in a document: what holds it, and its key there."""
    keys = list(document) if isinstance(document, dict) else range(len(document))
    for key in keys:
        yield document, key
        if isinstance(document[key], dict | list):
            yield from _places(document[key])


def _flip(content: bytearray, at: int, n: int, tokens: Sequence[bytes]) -> None:
    if content:
        content[at % len(content)] ^= 1 << n % 8


def _byte(content: bytearray, at: int, n: int, tokens: Sequence[bytes]) -> None:
    content[at : at + 1] = bytes([n % 256])


def _cut(content: bytearray, at: int, n: int, tokens: Sequence[bytes]) -> None:
    del content[at : at + n % 64]


def _end(content: bytearray, at: int, n: int, tokens: Sequence[bytes]) -> None:
    del content[at:]


def _repeat(content: bytearray, at: int, n: int, tokens: Sequence[bytes]) -> None:
    content[at:at] = content[at : at + n % 64] * 2 ** (n % 9)


def _number(content: bytearray, at: int, n: int, tokens: Sequence[bytes]) -> None:
    number = NUMBERS[n % len(NUMBERS)] % 2**64
    width, order = (2, 4, 8)[n % 3], "<>"[n % 2]
    packed = struct.pack(f"{order}Q", number)
    content[at : at + width] = packed[:width] if order == "<" else packed[-width:]


def _token(content: bytearray, at: int, n: int, tokens: Sequence[bytes]) -> None:
    content[at:at] = tokens[n % len(tokens)]


def _digits(content: bytearray, at: int, n: int, tokens: Sequence[bytes]) -> None:
    content[at:at] = str(NUMBERS[n % len(NUMBERS)]).encode()


EDITS: tuple[Callable[[bytearray, int, int, Sequence[bytes]], None], ...] = (
    *(_flip, _byte, _cut, _end, _repeat, _number, _token, _digits),
)
# before 0: counted from the end, where archives have their directory
EDIT = st.tuples(st.sampled_from(EDITS), st.integers(-(2**16), 2**16), st.integers(0, 2**16))


def _edited(kind: Kind, seeds: Sequence[bytes]) -> Contents:
    """A content with up to five edits, and perhaps another one's end."""

    def edit(parts: tuple[bytes, bytes, bool, list[Any]]) -> bytes:
        one, other, splice, edits = parts
        content = bytearray(one)
        for change, place, number in edits:
            at = place % (len(content) + 1)
            if splice:
                content[at:] = other[at % (len(other) + 1) :]
                splice = False
            else:
                change(content, at, number, TOKENS[kind])
        return bytes(content)

    chosen = st.sampled_from(seeds)
    splice = st.sampled_from((False, False, False, True))
    return st.tuples(chosen, chosen, splice, st.lists(EDIT, min_size=1, max_size=5)).map(edit)
