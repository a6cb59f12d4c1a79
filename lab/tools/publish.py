"""Make the report's web site in .lab/site: `python -m lab.tools.publish`, with only Python.

The site holds the pages and the files that they link to. Its root has the content of reports/
(pages/x.html) next to the rest of the project (stages/x/do_this.py). To look at it:
`python -m http.server --directory .lab/site`.

The project names no address of its own. Whoever publishes the site gives the addresses with
`--pages`, `--source` and `--commit`. A page's comment `<!--published <a href="{source}">Code</a>
-->` is then shown with the addresses filled in; `<!--github ... -->` only if the source is on
GitHub. A notebook gets the source and the commit that it would ask for. Without addresses, these
comments are left out.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from lab.core.errors import DataError, LabError, ParamsError
from lab.core.files import REPORTS

SITE = Path(".lab/site")
COMMENT = re.compile(r"<!--(published|github) (.*?) -->", re.DOTALL)
# a page's links, and the addresses in its metadata, such as its picture's
LINK = re.compile(r'href="([^"]+)"|content="(https?:[^"]+)"')
NOWHERE = "https://site.invalid/"  # the root of a site that has no address
URL = re.compile(r"""https?://[^\s"'<>\\{}?#]+""")  # fit for HTML, JSON and Python
GITHUB = "https://github.com/"


@dataclass(frozen=True)
class Addresses:
    """The address of a site and its source.

    Attributes:
        pages: the site's root; ends with a slash.
        source: the repository's URL, for `git clone` and for a browser.
        commit: the hash of the commit.
    """

    pages: str
    source: str
    commit: str

    def by_placeholder(self) -> dict[str, str]:
        """Return the values of `{pages}` and the other placeholders of a comment."""
        parts = urlsplit(self.source).path.split("/")
        return {**vars(self), "repository": "/".join(parts[-2:]), "name": parts[-1]}


def make_site(published: Addresses | None) -> None:
    """Make the site, in place of an earlier one.

    Raises:
        DataError: a page links to a missing file or to a folder.
    """
    pages = {
        path.relative_to(REPORTS): _html(path, published)
        for path in sorted(REPORTS.rglob("*.html"))
    }
    shutil.rmtree(SITE, ignore_errors=True)
    for page, html in pages.items():
        (SITE / page).parent.mkdir(parents=True, exist_ok=True)
        (SITE / page).write_text(html, encoding="utf-8")
    root = published.pages if published else NOWHERE
    for page, html in pages.items():
        for file in led_to(page, html, root):
            _bring(file, page, published)


def _html(page: Path, published: Addresses | None) -> str:
    return at_the_root(page, with_addresses(page.read_text(encoding="utf-8"), published))


def with_addresses(html: str, published: Addresses | None) -> str:
    """Return a page's HTML with its comments for published pages filled in, or left out."""

    def shown(comment: re.Match[str]) -> str:
        kind, text = comment.groups()
        if published is None or (kind == "github" and not published.source.startswith(GITHUB)):
            return ""
        return text.format_map({k: escape(v) for k, v in published.by_placeholder().items()})

    return COMMENT.sub(shown, html)


def at_the_root(page: Path, html: str) -> str:
    """Return a page's HTML with reports/ as the root: links out of it go up one folder less."""
    up = "../" * len(page.relative_to(REPORTS).parents)
    return html.replace(f'href="{up}', f'href="{up.removeprefix("../")}')


def led_to(page: Path, html: str, root: str) -> Iterator[Path]:
    """Yield the files of the site that a page links to."""
    for relative, absolute in LINK.findall(html):
        url = urljoin(root + page.as_posix(), unescape(relative or absolute))
        if url.startswith(root):
            yield Path(unquote(urlsplit(url.removeprefix(root)).path) or "index.html")


def _bring(file: Path, page: Path, published: Addresses | None) -> None:
    """Copy a file to the site unless it is there already."""
    if (SITE / file).is_file():
        return
    found = [path for path in (REPORTS / file, file) if path.is_file()]
    if not found:
        raise DataError(
            f"{REPORTS / page}: leads to {file}, which is no file of the project; fix the link;"
            " instead of a folder, which a web site does not show, link a file in it"
        )
    (SITE / file).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(found[0], SITE / file)
    if published and file.suffix == ".ipynb":
        text = notebook_of(found[0].read_text(encoding="utf-8"), published)
        (SITE / file).write_text(text, encoding="utf-8")


def notebook_of(text: str, published: Addresses) -> str:
    """Return a notebook's text with the source and the commit that it would ask for."""
    for name, value in {"SOURCE": published.source, "COMMIT": published.commit}.items():
        text = text.replace(rf"{name} = \"\"", rf"{name} = \"{value}\"")
    return text


def addresses() -> Addresses | None:
    """Return the addresses on the command line; None without any.

    Raises:
        ParamsError: an option is not an address, or not a whole commit hash.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", metavar="URL", help="where the site is published")
    parser.add_argument("--source", metavar="URL", help="the repository that it is made from")
    parser.add_argument("--commit", metavar="SHA", help="the commit that it is made from")
    given = parser.parse_args()
    if not any(vars(given).values()):
        return None
    if not all(vars(given).values()):
        parser.error("--pages, --source and --commit go together: give all three, or none")
    for option, url in (("--pages", given.pages), ("--source", given.source)):
        if not URL.fullmatch(url):
            raise ParamsError(f"{option} {url}: expected an address; give it as https://host/path")
    if not re.fullmatch("[0-9a-f]{40,64}", given.commit):
        raise ParamsError(
            f"--commit {given.commit}: expected a whole hash, which `git rev-parse HEAD` prints"
        )
    source = given.source.rstrip("/").removesuffix(".git")
    return Addresses(given.pages.rstrip("/") + "/", source, given.commit)


if __name__ == "__main__":
    try:
        make_site(addresses())
    except LabError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(SITE)
