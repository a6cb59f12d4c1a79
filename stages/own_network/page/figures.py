"""The figures and tables of the page on the reader's own network."""

from itertools import accumulate
from pathlib import Path

from lab.report import plots
from lab.report.language import say, translation
from lab.report.numbers import number
from lab.report.page import Figure
from lab.report.reason_words import in_words
from lab.results.findings import Findings
from lab.results.measurements import Results
from stages.own_network.findings import same
from stages.own_network.measure import names
from stages.own_network.measure.names import ALL, identifier


def values(results: Results, found: Findings) -> dict[str, object]:
    combined = results.variants(names.COMBINED)
    tried = [name for name in names.TECHNIQUES if found[f"{identifier(name)}_speedup"]]
    changed = [name for name in names.SAME_STEPS if name in tried and not same(results, name)]
    return {
        "file": Path(str(results.conditions[names.FILE])).name,
        "chosen": listed(combined),
        "functions": [identifier(name) for name in combined],
        "changed": listed(changed),
        "tried": [
            {
                "name": name,
                "speedup": found[f"{identifier(name)}_speedup"],
                "differs": loss_difference(found, name),
                "first_s": results.samples(names.FIRST_STEP, name).values[0],
                "mib": results.series(names.PEAK_MEMORY, name)[0].summary.median,
            }
            for name in tried
        ],
        "untried": [
            {"name": name, "reason": in_words(why, "own_network")}
            for name in names.TECHNIQUES
            if (why := found[f"{identifier(name)}_speedup"].missing)
        ],
    }


def listed(techniques: list[str]) -> str:
    """Techniques in words, one after the other."""
    *others, last = [translation(name) for name in techniques] or [""]
    return say(" and ").join([say(", ").join(others), last] if others else [last])


def loss_difference(found: Findings, name: str) -> str:
    """By how much a technique moves the first losses; NaN where they are no numbers."""
    differs = found[f"{identifier(name)}_differs"]
    return number(differs) if differs else "NaN"


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
