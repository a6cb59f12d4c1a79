"""Python code as HTML, in which comments, texts and keywords can have colours of their own."""

import keyword
import re

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
