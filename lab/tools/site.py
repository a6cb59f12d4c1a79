"""Make the report's web site in .lab/site: `python -m lab.tools.site`, with Python alone.

It is the pages and the files that they lead to. What is under reports/ stands at its root,
pages/x.html, and all else of the project beside that, stages/x/do_this.py. To look at it:
`python -m http.server --directory .lab/site`.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from lab.core.errors import DataError, LabError
from lab.core.files import REPORTS
from lab.report import address

SITE = Path(".lab/site")
# what a page leads to, or says that it has elsewhere on the site, such as its picture
LINK = re.compile(rf'href="([^"]+)"|content="({re.escape(address.report())}[^"]*)"')


def make_site() -> None:
    """Make it anew.

    Raises:
        DataError: a page leads to a file that is not there, or to a folder.
    """
    pages = {
        path.relative_to(REPORTS): at_the_root(path) for path in sorted(REPORTS.rglob("*.html"))
    }
    shutil.rmtree(SITE, ignore_errors=True)
    for page, html in pages.items():
        (SITE / page).parent.mkdir(parents=True, exist_ok=True)
        (SITE / page).write_text(html, encoding="utf-8")
    for page, html in pages.items():
        for file in led_to(page, html):
            _bring(file, page)


def at_the_root(page: Path) -> str:
    """A page's HTML once reports/ is the root: links that leave reports/ go up a folder less."""
    up = "../" * len(page.relative_to(REPORTS).parents)
    html = page.read_text(encoding="utf-8")
    return html.replace(f'href="{up}', f'href="{up.removeprefix("../")}')


def led_to(page: Path, html: str) -> Iterator[Path]:
    """The files of the site that a page of it leads to."""
    for relative, absolute in LINK.findall(html):
        url = urljoin(address.report(page.as_posix()), relative or absolute)
        if url.startswith(address.report()):
            file = unquote(urlsplit(url.removeprefix(address.report())).path)
            yield Path(file or "index.html")


def _bring(file: Path, page: Path) -> None:
    """Have a file on the site, if it is not there yet."""
    if (SITE / file).is_file():
        return
    found = [path for path in (REPORTS / file, file) if path.is_file()]
    if not found:
        raise DataError(
            f"{REPORTS / page}: leads to {file}, which is no file of the project; mend the link;"
            " one to a folder has to lead to the source"
        )
    (SITE / file).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(found[0], SITE / file)


if __name__ == "__main__":
    try:
        make_site()
    except LabError as error:
        sys.exit(f"ERROR: {error}")
    print(SITE)
