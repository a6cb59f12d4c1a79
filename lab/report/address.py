"""Where the project is on the web; pyproject.toml has its addresses once."""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def source(path: str = "") -> str:
    """The project's source, or a file or folder of it."""
    return f"{_urls()['Source']}/tree/main/{path}" if path else _urls()["Source"]


def report(file: str = "") -> str:
    """The report's first page, or a file under reports/."""
    return _urls()["Report"] + file.removesuffix("index.html")


@functools.cache
def _urls() -> Mapping[str, str]:
    urls: Mapping[str, str] = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["urls"]
    return urls
