"""Move explorables' controls in a real browser, and read the numbers to compare with Python's."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from playwright.sync_api import Browser, Locator

from lab.report.page import Explorable
from stages.report.site import script_of, templates
from tests.helpers import ROOT

# set controls as a user would, and read the page's controls and outputs
MOVE = """(root, wanted) => {
    for (const [name, value] of Object.entries(wanted)) {
        const control = root.querySelector(`[name=${name}]`)
        control.value = value
        control.dispatchEvent(new Event("input", { bubbles: true }))
    }
    const all = (what, pair) => Object.fromEntries([...root.querySelectorAll(what)].map(pair))
    return [
        all("[name]", each => [each.name, each.dataset.number ?? each.value]),
        all("output", each => [each.dataset.out, each.dataset.number]),
    ]
}"""

Values = dict[str, float | str]


def page_of(stage: str, explorable: Explorable) -> str:
    """Return a page with only one explorable, its script and the report's style."""
    parts = templates().get_template("parts.html.j2").module
    part = parts.explorable_of(explorable, "A title", "How to read it")  # type: ignore[attr-defined]
    script = script_of([ROOT / "stages" / stage / "page" / f"{explorable.name}.js"])
    style = (ROOT / "stages" / "report" / "templates" / "style.css").read_text()
    return (
        f'<!DOCTYPE html><meta charset="utf-8"><style>{style}</style><main>{part}</main>'
        f"<script>{script}</script>"
    )


@contextmanager
def opened(browser: Browser, stage: str, *explorables: Explorable) -> Iterator[list[Locator]]:
    """Yield each explorable, drawn in its own page; assert that no page logs anything."""
    said: list[str] = []
    with browser.new_context() as context:
        roots = []
        for explorable in explorables:
            page = context.new_page()
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.set_content(page_of(stage, explorable))
            roots.append(page.locator(".explorable"))
        yield roots
    assert said == []


def moved(root: Locator, wanted: Mapping[str, float | str]) -> tuple[Values, Values]:
    """Move some controls, and return the values of all controls and outputs."""
    controls, outputs = root.evaluate(MOVE, dict(wanted))
    return _read(controls), _read(outputs)


def _read(texts: Mapping[str, str]) -> Values:
    def number(text: str) -> float | str:
        try:
            return float(text)
        except ValueError:
            return text

    return {name: number(text) for name, text in texts.items()}
