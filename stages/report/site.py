"""The files of the report, their links to each other, and their templates.

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
ABOUT = ("errata", "howto", "exercises", "claims", "machines")  # pages that belong to no stage
FOLDER = "pages"  # of all pages but the index, under reports
CARD = "figures/card.png"  # the preview of a link to a page


def file_of(page: str, language: str) -> str:
    """Return a page's file under reports."""
    name = f"{page}.html" if language == ENGLISH else f"{page}.{language}.html"
    return name if page == INDEX else f"{FOLDER}/{name}"


def links_from(page: str) -> dict[str, str]:
    """Return a page's relative links to all pages, in the current language."""
    files = {each: file_of(each, language()) for each in (INDEX, *ABOUT, *BOOK_ORDER)}
    if page == INDEX:
        return files
    return {
        each: f"../{file}" if each == INDEX else Path(file).name for each, file in files.items()
    }


def text_of(page: str) -> Path:
    """Return the file of a page's text in the current language; English if untranslated."""
    if page in BOOK_ORDER:
        folder = STAGES / page / "page"
        translated = folder / f"{language()}.md"
        return translated if translated.is_file() else folder / f"{ENGLISH}.md"
    return HERE / "page" / f"{page}.{language()}.md"


def titles() -> Mapping[str, Markup]:
    """Return the questions' titles, which hold no values, in the current language."""
    return _titles(language())


@functools.cache
def _titles(language: str) -> Mapping[str, Markup]:
    return {stage: inline(read_front(text_of(stage))["title"]) for stage in BOOK_ORDER}


def rendered(template: str, page: str, content: Mapping[str, Any]) -> str:
    """Render a page as HTML in the current language."""
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
    """Return a file's published address, with a placeholder for `lab.tools.publish`."""
    return "{pages}" + file.removesuffix("index.html")


def published(text: str, on: str = "published") -> Markup:
    """Wrap Markdown for published pages in a comment; `lab.tools.publish` fills in placeholders.

    With `on="github"`, only pages published from GitHub show it.
    """
    html = inline(text).replace("%7B", "{").replace("%7D", "}")  # links escape the braces
    return Markup(f"<!--{on} {html} -->")


def in_brief(prose: Prose) -> str:
    """Return a page's description for links: its finding, else the first sentence of its text."""
    if finding := prose.front.get("finding"):
        return finding.striptags()
    text = prose.parts[ANSWER].html.striptags() if ANSWER in prose.parts else ""
    return re.split(r"(?<=[.!?]) |(?<=[。！？])", text)[0]


def part(macro: str, *given: object, one_line: bool = True) -> Markup:
    """Render a macro of parts.html.j2; Markdown leaves one line of HTML as it is."""
    html = str(getattr(templates().get_template("parts.html.j2").module, macro)(*given))
    return Markup((" ".join(html.split("\n")) if one_line else html) + "\n\n")


@functools.cache
def templates() -> Environment:
    """Return the Jinja environment of the templates, with the functions that they call."""
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
    """Turn `words` between backticks into code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def with_tags(message: str, /, **values: object) -> Markup:
    """Translate a message and keep its tags; values are filled in as text."""
    return Markup(translation(message)).format(**values)


def script_of(explorables: Sequence[Path]) -> str:
    """Return the script of a page with explorables, each in a block with its own names."""
    if not explorables:
        return ""
    shared, start = (
        (HERE / name).read_text(encoding="utf-8") for name in ("explore.js", "start.js")
    )
    slices = "".join(f"{{\n{path.read_text(encoding='utf-8')}}}\n" for path in explorables)
    return f'"use strict"\n{shared}{slices}{start}'
