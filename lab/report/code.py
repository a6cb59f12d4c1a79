"""Python code as HTML in which comments, strings and keywords can be coloured."""

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
    """Return code with each comment, string and keyword in a `span` of its class."""
    found, end = Markup(), 0
    for token in TOKENS.finditer(code):
        found += code[end : token.start()]
        found += Markup('<span class="{}">{}</span>').format(token.lastgroup, token[0])
        end = token.end()
    return found + code[end:]


def definition(source: str, name: str) -> Any:
    """Return the AST node of a top-level function or class."""
    [found] = [node for node in ast.parse(source).body if getattr(node, "name", "") == name]
    return found


def body_of(source: str, function: str) -> str:
    """Return the lines of a function's body as a script.

    `return` becomes an assignment to the first parameter; comments for linters are left out.
    """
    found = definition(source, function)
    lines = source.splitlines()[found.body[0].lineno - 1 : found.end_lineno]
    body = re.sub("  # (type: ignore|noqa).*", "", dedent("\n".join(lines)))
    return re.sub(r"(?m)^return\b", f"{found.args.args[0].arg} =" if found.args.args else "", body)
