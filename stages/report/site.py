"""The files of the report, how they lead to each other, and the templates that they are made of.

reports/index.html  reports/index.zh.html
reports/pages/bench_async.html  reports/pages/bench_async.zh.html  ...
"""

import base64
import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lab.claims.book_order import BOOK_ORDER, PLACES
from lab.report import book, verdict_words
from lab.report.language import CHINESE, ENGLISH, language, localized, say, translation
from lab.report.prose import ANSWER, Prose, inline, read_front

HERE = Path(__file__).parent
STAGES = HERE.parent
INDEX = "index"
ABOUT = ("errata", "howto", "exercises", "claims", "machines")  # of no stage
FOLDER = "pages"  # of all but the index, under reports
CARD = "figures/card.png"  # what a link to a page shows


def file_of(page: str, language: str) -> str:
    """A page's file under reports."""
    name = f"{page}.html" if language == ENGLISH else f"{page}.{language}.html"
    return name if page == INDEX else f"{FOLDER}/{name}"


def links_from(page: str) -> dict[str, str]:
    """How a page leads to each of the others, in the language that is spoken."""
    files = {each: file_of(each, language()) for each in (INDEX, *ABOUT, *BOOK_ORDER)}
    if page == INDEX:
        return files
    return {
        each: f"../{file}" if each == INDEX else Path(file).name for each, file in files.items()
    }


def text_of(page: str) -> Path:
    """The file of a page's text in the language that is spoken; in English if it has no other."""
    if page in BOOK_ORDER:
        folder = STAGES / page / "page"
        translated = folder / f"{language()}.md"
        return translated if translated.is_file() else folder / f"{ENGLISH}.md"
    return HERE / "page" / f"{page}.{language()}.md"


def titles() -> Mapping[str, Markup]:
    """The questions' titles, which hold no values, in the language that is spoken."""
    return _titles(language())


@functools.cache
def _titles(language: str) -> Mapping[str, Markup]:
    return {stage: inline(read_front(text_of(stage))["title"]) for stage in BOOK_ORDER}


def rendered(template: str, page: str, content: Mapping[str, Any]) -> str:
    """A page as HTML, in the language that is spoken."""
    script = (HERE / "copy.js").read_text("utf-8") + content.get("script", "")
    other = CHINESE if language() == ENGLISH else ENGLISH
    return (
        templates()
        .get_template(template)
        .render(
            {"notices": [], **content},
            language=language(),
            file=page,
            links=links_from(page),
            titles=titles(),
            root="../" if page == INDEX else "../../",
            addresses={each: _address(file_of(page, each)) for each in (ENGLISH, CHINESE)},
            card=_address(CARD),
            other_language=Path(file_of(page, other)).name,
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            style=Markup((HERE / "templates" / "style.css").read_text("utf-8")),
        )
    )


def _address(file: str) -> str:
    """Where a file under reports is once published, with the placeholder of `lab.tools.publish`."""
    return "{pages}" + file.removesuffix("index.html")


def published(text: str, on: str = "published") -> Markup:
    """Markdown that only a published page shows; `lab.tools.publish` fills its placeholders in.

    With `on="github"`, only one whose source is on GitHub.
    """
    html = inline(text).replace("%7B", "{").replace("%7D", "}")  # as links have them
    return Markup(f"<!--{on} {html} -->")


def in_brief(prose: Prose) -> str:
    """What a link to a page says of it: its finding, or else the first sentence of its text."""
    if finding := prose.front.get("finding"):
        return finding.striptags()
    text = prose.parts[ANSWER].html.striptags() if ANSWER in prose.parts else ""
    return re.split(r"(?<=[.!?]) |(?<=[。！？])", text)[0]


def part(macro: str, *given: object, one_line: bool = True) -> Markup:
    """A part of a page, by a macro of parts.html.j2; Markdown leaves one line of HTML as it is."""
    html = str(getattr(templates().get_template("parts.html.j2").module, macro)(*given))
    return Markup((" ".join(html.split("\n")) if one_line else html) + "\n\n")


@functools.cache
def templates() -> Environment:
    """What reads the templates, with the functions that they call."""
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
        keep_trailing_newline=True,
    )
    found.globals.update(say=say, text=with_tags, book=book, places=PLACES, verdicts=verdict_words)
    found.filters.update(code=with_code, localized=localized)
    return found


def with_code(text: str) -> Markup:
    """A text in which `words` between backticks are code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def with_tags(message: str, /, **values: object) -> Markup:
    """A message whose own tags are tags; what is filled in is text."""
    return Markup(translation(message)).format(**values)


def script_of(explorables: Sequence[Path]) -> str:
    """The script of a page with explorables, of which each is a block: its names are its own."""
    if not explorables:
        return ""
    shared, start = (
        (HERE / name).read_text(encoding="utf-8") for name in ("explore.js", "start.js")
    )
    slices = "".join(f"{{\n{path.read_text(encoding='utf-8')}}}\n" for path in explorables)
    return f'"use strict"\n{shared}{slices}{start}'
