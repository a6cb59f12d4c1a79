"""Python code as HTML, in which comments, texts and keywords can have colours of their own."""

import ast
import keyword
import re
from textwrap import dedent
from typing import Any

from markupsafe import Markup

TOKENS = re.compile(
    r"(?P<comment>#.*)"
    r"|(?P<text>[bfr]*(?:\"{3}(?s:.*?)\"{3}|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))"
    rf"|\b(?P<keyword>{'|'.join(keyword.kwlist)})\b"
)


def coloured(code: str) -> Markup:
    """Code with each such token in a `span` of its class."""
    found, end = Markup(), 0
    for token in TOKENS.finditer(code):
        found += code[end : token.start()]
        found += Markup('<span class="{}">{}</span>').format(token.lastgroup, token[0])
        end = token.end()
    return found + code[end:]


def definition(source: str, name: str) -> Any:
    """The node of a function or class at the top of a file."""
    [found] = [node for node in ast.parse(source).body if getattr(node, "name", "") == name]
    return found


def body_of(source: str, function: str) -> str:
    """The lines of a function's body, as they stand in a script.

    What it returns takes the place of its first parameter; what linters are told is left out.
    """
    found = definition(source, function)
    lines = source.splitlines()[found.body[0].lineno - 1 : found.end_lineno]
    body = re.sub("  # (type: ignore|noqa).*", "", dedent("\n".join(lines)))
    return re.sub(r"(?m)^return\b", f"{found.args.args[0].arg} =" if found.args.args else "", body)
