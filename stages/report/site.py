"""The files of the report and how they lead to each other: an index, and pages beside it.

reports/index.html  reports/index.zh.html
reports/pages/bench_async.html  reports/pages/bench_async.zh.html  ...
"""

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lab.claims.book_order import BOOK_ORDER
from lab.report.language import ENGLISH, language, say
from lab.report.markup import with_code, with_tags
from lab.report.prose import inline, read_front

HERE = Path(__file__).parent
STAGES = HERE.parent
INDEX = "index"
ABOUT = ("errata", "howto", "claims")  # the pages that are of no stage
FOLDER = "pages"  # of all but the index, under reports


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


def text_of(stage: str) -> Path:
    """The file of a question's text in the language that is spoken."""
    return STAGES / stage / "page" / f"{language()}.md"


def titles() -> dict[str, Markup]:
    """The questions' titles, which hold no values, in the language that is spoken."""
    return {stage: inline(read_front(text_of(stage))["title"]) for stage in BOOK_ORDER}


def rendered(template: str, page: str, content: Mapping[str, Any]) -> str:
    """A page as HTML, in the language that is spoken."""
    script = content.get("script", "")
    other = "zh" if language() == ENGLISH else ENGLISH
    return (
        templates()
        .get_template(template)
        .render(
            {"notices": [], **content},
            language=language(),
            file=page,
            links=links_from(page),
            site={"errata": say("Errata"), "howto": say("How to"), "claims": say("Claims")},
            other_language=Path(file_of(page, other)).name,
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            style=Markup((HERE / "templates" / "style.css").read_text("utf-8")),
        )
    )


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
    found.globals.update(say=say, text=with_tags)
    found.filters["code"] = with_code
    return found


def script_of(stages_scripts: Sequence[Path], *names: str) -> str:
    """A page's script, of files of this folder and of stages; nothing if there is none."""
    if not (stages_scripts or names):
        return ""
    slices = "".join(f"{{\n{path.read_text(encoding='utf-8')}}}\n" for path in stages_scripts)
    own = {name: (HERE / name).read_text(encoding="utf-8") for name in names}
    # blocks, so that no file's names are another's
    page = "".join(f"{{\n{text}}}\n" for text in own.values())
    if not stages_scripts:
        return f'"use strict"\n{page}'
    shared, start = (
        (HERE / name).read_text(encoding="utf-8") for name in ("explore.js", "start.js")
    )
    return f'"use strict"\n{page}\n{shared}{slices}{start}'
