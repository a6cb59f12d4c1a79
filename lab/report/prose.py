"""A page's text as its authors write it: Markdown with front matter, values filled in by Jinja.

    ---
    task: Time a GPU call
    title: When is a result ready?
    finding: A CPU computes within the call.
    number: "{{ share | percent }}"
    ---
    The answer, before the first heading: {{ share | percent }} ({{ share | percent_span }}).

    ## What the book says
    ...

An unknown name is an error. Values are filled in as text: they make no tags and no Markdown.
"""

import io
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lab.core.errors import DataError
from lab.report import book
from lab.report.code import coloured
from lab.report.language import CHINESE, ENGLISH, in_markdown, language, say, translation
from lab.report.numbers import FILTERS, number
from lab.results.findings import Finding

ANSWER = "answer"  # the part before the first heading
MORE = "more"  # the folded part
HEADINGS = {  # of a question's page, in order; each page has all but the optional ones
    "book": {ENGLISH: "What the book says", CHINESE: "书上怎么说"},
    "did": {ENGLISH: "What we did", CHINESE: "我们怎么测"},
    "found": {ENGLISH: "What came out", CHINESE: "结果"},
    "why": {ENGLISH: "Why", CHINESE: "为什么"},
    "do": {ENGLISH: "Do this", CHINESE: "怎么做"},
    "predict": {ENGLISH: "Predict, then try", CHINESE: "先猜再试"},
    "limits": {ENGLISH: "Limits", CHINESE: "局限"},
    MORE: {ENGLISH: "More figures and tables", CHINESE: "更多图表"},
}
OPTIONAL = (MORE,)
FRONT = ("task", "title", "finding", "number")  # used by the how-to, all pages, the index twice
TAGS_ALONE = re.compile(r"\s*(\{%((?!%\}).)*%\}\s*)+")  # a line of nothing but tags

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


class TextError(DataError):
    """A page's text has a mistake of its author, independent of the results."""


@dataclass(frozen=True)
class PagePart:
    """The content under a heading, as HTML."""

    heading: str
    html: Markup


@dataclass(frozen=True)
class Prose:
    """A filled-in text: the lines of its front matter, and its parts by key."""

    front: Mapping[str, Markup]
    parts: Mapping[str, PagePart]


def read_front(path: Path) -> dict[str, str]:
    """Return a file's front matter, nothing filled in.

    Raises:
        TextError: the file has no front matter, or it is not YAML.
    """
    return _split(path)[0]


def fill_in(
    path: Path, values: Mapping[str, Any], headings: bool = True, doubtful: bool = False
) -> Prose:
    """Return a file's text with the values filled in, in the current language.

    Args:
        path: the Markdown file.
        values: values and functions, by the file's names for them.
        headings: whether its headings are those of a question's page; else each heading is the
            key of its part.
        doubtful: whether the values decide nothing, as in `environment`.

    Raises:
        TextError: the file uses an unknown name or heading, or its front matter lacks a line.
    """
    lines, text = filled(path, values, doubtful)
    if headings and (missing := [key for key in FRONT if key not in lines]):
        raise TextError(f"{path}: its front matter lacks {', '.join(missing)}")
    return Prose({key: inline(line) for key, line in lines.items()}, _parts(path, text, headings))


def filled(
    path: Path, values: Mapping[str, Any], doubtful: bool = False
) -> tuple[dict[str, str], str]:
    """Return the front matter and the text with the values filled in, still as Markdown.

    Raises:
        TextError: the file uses an unknown name.
    """
    front, body, lines_before = _split(path)
    templates = environment(doubtful)
    try:
        text = templates.from_string(_with_breaks(body)).render(values)
        lines = {key: templates.from_string(line).render(values) for key, line in front.items()}
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        where = f"{path}, line {line + lines_before}" if line else str(path)
        raise TextError(f"{where}: {error}") from None
    return lines, text


def inline(text: str) -> Markup:
    """Render a line of Markdown as HTML."""
    return Markup(_MARKDOWN.renderInline(text))


def block(text: str) -> Markup:
    """Render Markdown as HTML without blank lines, which may stand within Markdown."""
    return Markup(_MARKDOWN.render(text).replace("\n", " ").strip())


def _split(path: Path) -> tuple[dict[str, str], str, int]:
    """Return a file's front matter, its body, and the number of lines before the body."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TextError(f"{path}: cannot be read ({error}); each page has one") from None
    found = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, flags=re.S)
    if not found:
        raise TextError(f"{path}: begins with no front matter; write `---`, its lines, and `---`")
    try:
        front = YAML(typ="safe").load(io.StringIO(found[1]))
    except YAMLError as error:
        why = " ".join(str(error).split())
        raise TextError(f"{path}: its front matter is no YAML ({why})") from None
    lines = {key: str(value) for key, value in (front or {}).items()}
    return lines, found[2], text.count("\n", 0, found.start(2))


def _with_breaks(body: str) -> str:
    """Keep the line break after a tag unless its line holds nothing but tags.

    Jinja's `trim_blocks` drops the line break after every tag, which would join a paragraph or an
    item that ends with one to the next.
    """
    lines = body.split("\n")
    return "\n".join(
        f"{line[:-2]}+%}}" if line.endswith("%}") and not TAGS_ALONE.fullmatch(line) else line
        for line in lines
    )


def environment(doubtful: bool = False) -> Environment:
    """Return the Jinja environment that renders a text, with its filters.

    If the values are `doubtful`, each is marked so that the page shows it in grey, and no ratio
    says which side is faster.
    """
    found = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701  (_as_text escapes what is filled in)
        finalize=_as_doubtful_text if doubtful else _as_text,
        keep_trailing_newline=True,
    )
    found.filters |= FILTERS
    if doubtful:
        found.filters["which"] = lambda ratio, faster, undecided, slower: undecided
    found.filters["word"] = translation  # of a label that figures also have
    found.globals["book"] = lambda section: Markup(book.link(section))
    return found


def _as_text(value: object) -> object:
    """Return a value as text within Markdown; markup from the page's functions stays as it is."""
    if value is None:
        raise TemplateError("a value that is filled in is None; say what it means by an `if`")
    if isinstance(value, Finding):
        if value.missing:
            raise TemplateError(f"a finding that is filled in is missing ({value.missing})")
        return number(value)
    return value if isinstance(value, Markup) else in_markdown(value)


def _as_doubtful_text(value: object) -> object:
    """Return a value as text, marked as doubtful unless it is markup or empty."""
    text = _as_text(value)
    if isinstance(value, Markup) or not text:
        return text
    return Markup(f'<span class="doubtful">{text}</span>')


def _parts(path: Path, text: str, headings: bool) -> dict[str, PagePart]:
    env: dict[str, Any] = {}
    tokens = _MARKDOWN.parse(text, env)
    starts = [
        i for i, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"
    ]
    keys = {word: key for key, words in HEADINGS.items() for word in words.values()}
    first = starts[0] if starts else len(tokens)
    parts = {ANSWER: PagePart("", _html(tokens[:first], env))}
    for start, end in itertools.pairwise([*starts, len(tokens)]):
        heading = tokens[start + 1].content
        if headings and heading not in keys:
            raise TextError(
                f"{path}: “{heading}” is no heading of a page; take one of {list(keys)}"
            )
        key = keys[heading] if headings else heading
        if key in parts:
            raise TextError(f"{path}: “{heading}” stands there twice")
        shown = HEADINGS[key][language()] if headings else heading
        parts[key] = PagePart(shown, _html(tokens[start + 3 : end], env))
    if headings:
        missing = [k for k in HEADINGS if k not in parts and k not in OPTIONAL]
        if missing or list(parts) != [ANSWER, *(k for k in HEADINGS if k in parts)]:
            wanted = [words[language()] for words in HEADINGS.values()]
            raise TextError(f"{path}: expected these headings in this order: {wanted}")
    return parts


def _html(tokens: Sequence[Token], env: dict[str, Any]) -> Markup:
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, env))


def _table_open(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    """Open a table that scrolls if it is too wide, also by keyboard."""
    env["tables"] = env.get("tables", 0) + 1
    label = say("Table {number}", number=env["tables"])
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>\n'


def _table_close(*_: Any) -> str:
    return "</table></div>\n"


def _fence(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    """Render code that scrolls, also by keyboard."""
    text = tokens[index].content
    shown = coloured(text) if tokens[index].info == "python" else text
    code = Markup("<pre tabindex=0><code>{}</code></pre>\n").format(shown)
    return str(code)  # Markup would escape the renderer's output when added to it


def _softbreak(*_: Any) -> str:
    """Render a line break within a paragraph as a space; as nothing in Chinese."""
    return "" if language() == CHINESE else "\n"


_MARKDOWN.add_render_rule("softbreak", _softbreak)
_MARKDOWN.add_render_rule("table_open", _table_open)
_MARKDOWN.add_render_rule("table_close", _table_close)
_MARKDOWN.add_render_rule("fence", _fence)
