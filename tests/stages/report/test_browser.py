"""The report in a real browser: both pages from file://, light and dark, on a phone and on a desk.

Needs Chromium (Debian's package `chromium`). Screenshots are kept where LAB_SCREENSHOTS says.
"""

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium (apt-get install chromium)")
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1400, "height": 900}
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"],
    "resultTypes": ["violations"],
}
FIGURES = """[...document.querySelectorAll('figure svg')].map(svg => {
    const box = svg.getBoundingClientRect()
    return [box.width, box.height, svg.getAttribute('aria-label')]
})"""
# every link within the page whose target is missing, of how many there are
LINKS = """(() => {
    const links = [...document.querySelectorAll("a[href^='#']")].map(a => a.hash.slice(1))
    return [links.length, links.filter(id => !document.getElementById(id))]
})()"""
PICTURES = """[...document.querySelectorAll('svg image')].map(
    image => image.getAttribute('href') || image.getAttribute('xlink:href'))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def opened(browser: Browser, path: Path) -> Iterator[Page]:
    """A page that says nothing on the console and asks for nothing but itself."""
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda sent: asked.append(sent.url))
    page.goto(path.as_uri())
    yield page
    assert not said
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    context.close()


def view(page: Page, scheme: str, size: dict[str, int]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size(size)


def check_access(page: Page) -> None:
    """Check a view by axe's rules; takes seconds."""
    found = Axe().run(page, options=RULES)
    assert [
        (v["id"], v["impact"], v["nodes"][0]["html"][:120], len(v["nodes"]))
        for v in found.response["violations"]
    ] == []


@pytest.mark.parametrize(
    ("name", "checked"),
    [
        ("index.html", [("light", PHONE), ("dark", DESK)]),
        ("index.zh.html", [("dark", PHONE)]),  # the same elements
    ],
)
def test_a_page_in_each_view(browser, drawn, name, checked):
    """Everything about a page in one test, since opening it is what takes long."""
    with opened(browser, drawn / name) as page:
        for scheme, size in itertools.product(("light", "dark"), (PHONE, DESK)):
            view(page, scheme, size)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= size["width"], "it scrolls sideways"
            found = page.evaluate(FIGURES)
            assert len(found) == len(list((drawn / "figures").glob("*.svg")))
            for width, height, label in found:
                assert width > 100, label
                assert height > 50, label
                assert label
            if folder := os.environ.get("LAB_SCREENSHOTS"):
                Path(folder).mkdir(parents=True, exist_ok=True)
                file = Path(folder) / f"{name}-{scheme}-{size['width']}.png"
                page.screenshot(path=file, full_page=True)
        count, missing = page.evaluate(LINKS)
        assert count > 20
        assert missing == []
        pictures = page.evaluate(PICTURES)
        assert pictures
        assert all(source.startswith("data:image/png;base64,") for source in pictures)
        # an image to who listens, by its label: what is drawn in it is 15,000 elements to axe
        page.evaluate("document.querySelectorAll('svg > *').forEach(child => child.remove())")
        for scheme, size in checked:
            view(page, scheme, size)
            check_access(page)


def test_a_figure_opens_large_and_closes_again(browser, drawn):
    with opened(browser, drawn / "index.html") as page:
        view(page, "light", DESK)
        figure = page.locator("figure[id]").first
        before = figure.locator("svg").bounding_box()
        figure.locator("a.larger").click()
        after = figure.locator("svg").bounding_box()
        assert after["width"] > 1.2 * before["width"]
        figure.locator("a.smaller").click()
        assert figure.locator("svg").bounding_box()["width"] == pytest.approx(before["width"])


def test_nothing_on_the_page_may_run_or_be_fetched(browser, drawn):
    """The Content-Security-Policy, with a page that tries."""
    page = browser.new_page()
    text = (drawn / "index.html").read_text()
    evil = (
        "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    )
    page.set_content(text.replace("</main>", f"{evil}</main>"))
    assert "d2l-lab" in page.title()
    page.close()
