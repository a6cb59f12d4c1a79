"""Messages as HTML: what is filled in is text, what the message itself has are tags or code."""

import re

from markupsafe import Markup, escape

from lab.report.language import translation


def with_code(text: str) -> Markup:
    """A text in which `words` between backticks are code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def with_tags(message: str, /, **values: object) -> Markup:
    """A message whose own tags are tags; what is filled in is text."""
    return Markup(translation(message)).format(**values)
