"""The report in a real browser: both pages from file://, light and dark, on a phone and on a desk.

Needs Chromium (Debian's package `chromium`). Screenshots are kept where LAB_SCREENSHOTS says.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.helpers import ROOT

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium (apt-get install chromium)")
PAGES = ("index.html", "index.zh.html")
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1400, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


VIEWS = [
    (name, scheme, size) for name in PAGES for scheme in ("light", "dark") for size in (PHONE, DESK)
]


@pytest.fixture(params=VIEWS, ids=lambda view: f"{view[0]}-{view[1]}-{view[2]['width']}")
def page(browser, request) -> Iterator[Page]:
    """A page that was opened without a word on the console, and without asking for anything but
    itself.
    """
    name, scheme, size = request.param
    context = browser.new_context(
        viewport=size, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    )
    opened = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda sent: asked.append(sent.url))
    opened.goto((ROOT / "reports" / name).as_uri())
    yield opened
    assert not said
    assert [url for url in asked if not url.startswith("data:")] == [
        (ROOT / "reports" / name).as_uri()
    ]
    context.close()


def test_the_page(page, request):
    """Everything about one view in one test, since opening it is what takes long."""
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.viewport_size["width"], "it scrolls sideways"
    for figure in page.locator("figure svg").all():
        box = figure.bounding_box()
        assert box is not None
        assert box["width"] > 100
        assert box["height"] > 50
        assert figure.get_attribute("aria-label")
    targets = page.eval_on_selector_all(
        "a[href^='#']", "links => links.map(a => a.getAttribute('href').slice(1))"
    )
    assert len(targets) > 20
    assert [t for t in targets if not page.evaluate("id => !!document.getElementById(id)", t)] == []
    pictures = "all => all.map(i => i.getAttribute('href') || i.getAttribute('xlink:href'))"
    for source in page.eval_on_selector_all("svg image", pictures):
        assert source.startswith("data:image/png;base64,")
    folder = os.environ.get("LAB_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{request.node.callspec.id}.png", full_page=True)

    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]}
    found = Axe().run(page, context={"exclude": [["svg > *"]]}, options=rules)
    assert [
        (v["id"], v["impact"], v["nodes"][0]["html"][:120], len(v["nodes"]))
        for v in found.response["violations"]
    ] == []


def test_a_figure_opens_large_and_closes_again(browser):
    page = browser.new_page(viewport=DESK)
    page.goto((ROOT / "reports" / "index.html").as_uri())
    figure = page.locator("figure[id]").first
    before = figure.locator("svg").bounding_box()
    figure.locator("a.larger").click()
    after = figure.locator("svg").bounding_box()
    assert after["width"] > 1.2 * before["width"]
    figure.locator("a.smaller").click()
    assert figure.locator("svg").bounding_box()["width"] == pytest.approx(before["width"])
    page.close()


def test_nothing_on_the_page_may_run_or_be_fetched(browser):
    """The Content-Security-Policy, with a page that tries."""
    page = browser.new_page()
    text = (ROOT / "reports" / "index.html").read_text()
    evil = (
        "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    )
    page.set_content(text.replace("</main>", f"{evil}</main>"))
    assert "d2l-lab" in page.title()
    page.close()
