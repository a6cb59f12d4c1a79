"""The report in a real browser: all pages from file://, light and dark, on phone and desktop.

Needs Chromium (Debian's package `chromium`). Screenshots go to the folder LAB_SCREENSHOTS.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from lab.claims.book_order import BOOK_ORDER
from stages.report.site import ABOUT, INDEX, file_of
from tests.helpers import COMMITTED

pytestmark = pytest.mark.slow
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1400, "height": 900}
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"],
    "resultTypes": ["violations"],
}
CHECKED = (INDEX, "claims", "errata", "exercises", "optimizers")  # axe checks one page of each kind
OPEN_ALL = "document.querySelectorAll('details').forEach(details => { details.open = true })"
PICTURES = (
    """[...document.querySelectorAll('svg image')].map(image => image.getAttribute('href'))"""
)
# mistakes in texts of figures: outside the figure, over another text, or too small
TEXTS = """(() => {
    const wrong = []
    for (const svg of document.querySelectorAll('.panels svg, .hero svg, .card svg')) {
        const frame = svg.getBoundingClientRect()
        const name = (svg.closest('[id]')?.id ?? '') + ': '
        const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim())
        const boxes = texts.map(text => text.getBoundingClientRect())
        texts.forEach((text, i) => {
            const box = boxes[i], said = text.textContent
            if (box.left < frame.left - 1 || box.right > frame.right + 1
                || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
                wrong.push(name + 'outside: ' + said)
            const drawn = svg.viewBox.baseVal?.width || frame.width
            const scale = frame.width / drawn
            const size = parseFloat(getComputedStyle(text).fontSize) * scale
            if (size < 8.95) wrong.push(name + 'small: ' + said)
            for (let j = i + 1; j < texts.length; j++) {
                const other = boxes[j]
                const across = Math.min(box.right, other.right) - Math.max(box.left, other.left)
                const up = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top)
                if (across > 2 && up > 3) wrong.push(name + said + ' over ' + texts[j].textContent)
            }
        })
    }
    return wrong
})()"""


@contextmanager
def opened(browser: Browser, path: Path, **options) -> Iterator[Page]:
    """Open a page, and check that it logs nothing and requests nothing but itself."""
    context = browser.new_context(reduced_motion="reduce", **options)
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda sent: asked.append(sent.url))
    page.goto(path.as_uri())
    yield page
    assert not said
    assert {url.split("#")[0] for url in asked if not url.startswith("data:")} == {path.as_uri()}
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


@pytest.mark.parametrize("page", [INDEX, *ABOUT, *BOOK_ORDER])
def test_a_page_in_each_view(browser, drawn, page):
    """One test checks everything about a page, since opening it takes longest."""
    for language, (scheme, size) in (("en", ("light", PHONE)), ("zh", ("dark", DESK))):
        name = file_of(page, language)
        with opened(browser, drawn / name, bypass_csp=True) as view_of:
            view_of.evaluate(OPEN_ALL)
            for width in (PHONE, DESK):
                view(view_of, scheme, width)
                found = view_of.evaluate("document.documentElement.scrollWidth")
                assert found <= width["width"], f"{name} scrolls sideways"
                if folder := os.environ.get("LAB_SCREENSHOTS"):
                    Path(folder).mkdir(parents=True, exist_ok=True)
                    file = Path(folder) / f"{Path(name).stem}-{scheme}-{width['width']}.png"
                    view_of.screenshot(path=file, full_page=True)
            assert all(s.startswith("data:image/png;base64,") for s in view_of.evaluate(PICTURES))
            if page in CHECKED:
                # a screen reader reads only the figure's label; its content takes axe long
                view_of.evaluate("document.querySelectorAll('svg > *').forEach(c => c.remove())")
                view(view_of, scheme, size)
                check_access(view_of)


@pytest.mark.parametrize("page", [INDEX, *BOOK_ORDER])
def test_every_text_in_committed_figures_fits_and_is_large_enough(browser, page):
    for language in ("en", "zh"):
        with opened(browser, COMMITTED / "reports" / file_of(page, language)) as opened_page:
            opened_page.evaluate(OPEN_ALL)
            view(opened_page, "light", PHONE)
            wrong = opened_page.evaluate(TEXTS)
            assert wrong == [], f"{page}, {language}: " + "\n".join(wrong)


def test_claims_are_found_by_verdict_words_and_link(browser, drawn):
    with opened(browser, drawn / "pages" / "claims.html") as page:
        shown = page.locator(".claim:visible")
        everything = shown.count()
        refuted = page.locator(".claim[data-verdict=refuted]").count()
        assert 0 < refuted < everything
        page.locator("[name=verdict]").select_option("refuted")
        assert shown.count() == refuted
        assert page.locator("[name=shown]").text_content() == f"{refuted} claims"
        page.locator("[name=words]").fill("no such words in any claim")
        assert shown.count() == 0
        page.locator("[name=verdict]").select_option("")
        page.locator("[name=words]").fill("AdaGrad root")
        found = shown.count()
        assert 0 < found < everything
        page.goto(page.url.split("#")[0] + "#claim-A4")
        assert shown.count() == everything, "a link shows its claim, whatever was chosen"
        assert page.locator("#claim-A4").evaluate("claim => claim.open")
        page.goto(page.url.split("#")[0] + "#refuted")
        assert shown.count() == refuted
        page.goto(page.url.split("#")[0] + "#part-2")
        assert page.locator("#method details[open]").count() == 1, "what is linked is unfolded"


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("pages/howto.html", "#replicas"),
        ("pages/replicas.html", ".do"),
        ("pages/optimizers.html", ".do"),  # it has its own script
        ("index.html", "main"),
    ],
)
def test_a_button_copies_the_code_next_to_it(browser, drawn, name, where):
    with opened(browser, drawn / name) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        box = page.locator(where)
        box.locator("button.copy").first.click()
        box.locator("button.copy", has_text="copied").first.wait_for()
        taken = page.evaluate("navigator.clipboard.readText()")
        assert taken == box.locator("pre").first.text_content()
        if name == "index.html":
            assert "invoke record" in taken
        else:
            compile(taken, name, "exec")


def test_a_wide_table_uses_the_margin(browser, drawn):
    """Its last column is visible on a desktop; on a phone the table scrolls within itself."""
    with opened(browser, drawn / "pages" / "machines.html") as page:
        table = page.locator(".scroll", has_text="peak, float32")
        # as wide as with several machines' intervals
        table.locator("table").evaluate("each => { each.style.minWidth = '920px' }")
        cut = "each => each.scrollWidth > each.clientWidth"
        for size, is_cut in ((DESK, False), (PHONE, True)):
            view(page, "light", size)
            assert table.evaluate(cut) == is_cut
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        view(page, "light", DESK)
        narrow = page.locator(".scroll").first.bounding_box()["width"]
        assert narrow < table.bounding_box()["width"], "no table is wider than it must be"


@pytest.mark.parametrize(
    ("page", "figure", "of_first", "of_second"),
    [
        ("optimizers", "starts", "AdaGrad 2", "GD 0.4"),
        ("schedules", "schedules", "cosine", "the book's loop"),
    ],
)
def test_the_explorable_has_the_colours_of_the_figure(
    browser, drawn, page, figure, of_first, of_second
):
    with opened(browser, drawn / "pages" / f"{page}.html") as view_of:
        key = view_of.locator(".drawing").first.locator(
            "line[stroke-width='2'], line[stroke-width='4']"
        )
        for i, name in enumerate((of_first, of_second)):
            labels = view_of.locator(f"#figure-{figure} text").get_by_text(name, exact=True)
            styles = {each.get_attribute("style") for each in labels.all()}
            colour = key.nth(i).get_attribute("stroke")
            assert styles, name
            assert all(colour.replace("--c", "--t") in style for style in styles), name


def test_without_scripts_everything_is_readable(browser, drawn):
    for name in ("pages/claims.html", "pages/optimizers.html", "index.html"):
        with opened(browser, drawn / name, java_script_enabled=False) as page:
            if name == "pages/claims.html":
                assert page.locator(".claim").count() > 80
                assert page.locator(".filters").is_hidden()
                page.locator("summary", has_text="A4").first.click()
                assert page.locator("#claim-A4 dl").is_visible()
            assert page.locator("pre").count() > 0
            assert page.locator("button.copy").count() == 0
            if name == "pages/optimizers.html":
                assert page.locator(".explorable").first.is_hidden()
                assert page.locator("figure svg").count() > 1
            elif name == "index.html":
                assert page.locator("#bench_async a").is_visible()


def test_injected_code_does_not_run(browser, drawn):
    """The Content-Security-Policy blocks it."""
    page = browser.new_page()
    text = (drawn / "index.html").read_text()
    evil = (
        "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    )
    page.set_content(text.replace("</main>", f"{evil}</main>"))
    assert "measured" in page.title()
    page.close()
