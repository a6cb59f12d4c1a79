"""The figures and tables of the page on the reader's own network."""

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from pathlib import Path

from lab.report import plots
from lab.report.language import say, translation
from lab.report.numbers import number
from lab.report.page import Figure
from lab.report.reason_words import in_words
from lab.results.findings import Finding, Findings
from lab.results.measurements import Results
from stages.own_network.findings import helps, same
from stages.own_network.measure import names
from stages.own_network.measure.names import ALL, identifier


def values(results: Results, found: Findings) -> dict[str, object]:
    combined = results.variants(names.COMBINED)
    rows = [row(results, found, name) for name in names.TECHNIQUES]
    tried = [each for each in rows if each.speedup]
    return {
        "file": Path(str(results.conditions[names.FILE])).name,
        "gains": found["speedup"].verdict == "faster",
        "chosen": listed(combined),
        "others": listed([n for n in names.TECHNIQUES if n not in combined and helps(results, n)]),
        "functions": [identifier(name) for name in combined],
        "changed": listed([each.name for each in tried if not each.same]),
        "tried": tried,
        "untried": [each for each in rows if not each.speedup],
    }


@dataclass(frozen=True)
class TechniqueRow:
    """A technique by itself.

    Attributes:
        name: its own.
        speedup: over the file as it is.
        differs: by how much it moves the first losses; NaN where they are no numbers.
        same: whether that is no further than seeds do, or its steps are meant to be others.
        first_s: seconds of its first step, when nothing is built yet.
        mib: of memory.
        reason: why it was not tried, if it was not.
    """

    name: str
    speedup: Finding
    differs: str
    same: bool
    first_s: float
    mib: float
    reason: str


def row(results: Results, found: Findings, name: str) -> TechniqueRow:
    """Return the table row of a technique."""
    speedup, differs = (found[f"{identifier(name)}_{what}"] for what in ("speedup", "differs"))
    first = results.samples(names.FIRST_STEP, name).values
    memory = results.one(names.PEAK_MEMORY, name)
    return TechniqueRow(
        name,
        speedup,
        number(differs) if differs else "NaN",
        name not in names.SAME_STEPS or same(results, name),
        first[0] if first else 0.0,
        memory.summary.median if memory else 0.0,
        in_words(speedup.missing, "own_network") if speedup.missing else "",
    )


def listed(techniques: list[str]) -> str:
    """Return a list of techniques in words."""
    *others, last = [translation(name) for name in techniques] or [""]
    if not others:
        return last
    first = reduce(lambda one, other: say("{one}, {other}", one=one, other=other), others)
    return say(" and ").join([first, last])


def figures(results: Results, found: Findings) -> list[Figure]:
    rows = {say("noise control"): found["control"]}
    rows |= {translation(name): found[f"{identifier(name)}_speedup"] for name in names.TECHNIQUES}
    rows |= {translation(ALL): found["speedup"]}
    shown = {name: each for name, each in rows.items() if each}
    relative = say("Speed relative to the file as it is (×)")
    parts = {name: results.one(names.PARTS, name) for name in names.STEP_PARTS}
    ms = [part.summary.median if part else 0.0 for part in parts.values()]
    ends = [*accumulate(ms, initial=0.0)]
    step = [plots.Span(translation(n), *e) for n, *e in zip(parts, ends, ends[1:], strict=False)]
    return [
        Figure("own_network", [plots.dots(shown, relative)]),
        Figure(
            "own_network_step",
            [plots.timeline({translation(names.BASELINE): step}, say("Time of a step (ms)"))],
        ),
    ]
