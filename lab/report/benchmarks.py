"""What the sections on benchmarks share: reading, curves, ratios in words, and how far to trust."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.core.files import read_json, read_rows
from lab.report.language import say
from lab.report.page import Table
from lab.results.curves import Curve, curve, line
from lab.results.measurements import SKIPPED, Measurement, Results, measurements_of
from lab.results.stats import Ratio, false_speedup_bound, median_level, speedup

BUSY_PERCENT = 10  # of all cores, taken by others during the measurement: the page asks for care


def devices_in_words(device_kind: str) -> str:
    """What something was measured on."""
    return {
        "cpu": say("the processor"),
        "cpu-virtual": say("virtual devices on the CPU"),
        "cuda": say("CUDA GPUs"),
        "cuda-shared": say("replicas sharing a GPU"),
    }[device_kind]


def read(folder: Path) -> tuple[Results, dict[str, Any]]:
    """A benchmark stage's measurements and metrics."""
    return Results(measurements_of(read_rows(folder / "rows.csv"))), read_json(
        folder / "metrics.json"
    )


def curve_of(series: Sequence[Measurement], name: str, scale: float = 1.0) -> Curve:
    """The medians of a series against x with the band of their middle halves."""
    return curve("", name, [m.x for m in series], [scale * np.array(m.values) for m in series])


def speedup_curve(old: Sequence[Measurement], new: Sequence[Measurement], name: str) -> Curve:
    """How many times faster `new` is at each x both have, with the interval over starts as band."""
    before = {m.x: m for m in old}
    pairs = [(m.x, speedup(before[m.x].values, m.values)) for m in new if m.x in before]
    drawn = line("", name, [x for x, _ in pairs], [r.median for _, r in pairs])
    return replace(
        drawn, low=np.array([r.low for _, r in pairs]), high=np.array([r.high for _, r in pairs])
    )


def trust(m: Mapping[str, Any]) -> str:
    """The sentences that say on what, how noisily, and against which control a stage measured."""
    on_cpu = str(m["device_kind"]).startswith("cpu")
    count = say(
        "{n}, {threads} thread(s) each", n=m["num_devices"], threads=m["threads_per_device"]
    )
    sentences = [
        say(
            "Measured on {devices} ({count}) in {starts} start(s) of the process. Brackets hold the"
            " median over such starts with {level:.1f} %. {noisy:.0f} % of the measurements spread"
            " by more than a tenth from start to start.",
            devices=devices_in_words(m["device_kind"]),
            count=count if on_cpu else m["num_devices"],
            starts=m["starts"],
            level=100 * median_level(m["starts"]),
            noisy=m["noisy_percent"],
        )
    ]
    if m["controls"]:
        sentences.append(control_in_words(m))
    if m["busy_percent"] > BUSY_PERCENT:
        sentences.append(
            say(
                "Others took {busy:.0f} % of the cores meanwhile: measure again on a quiet"
                " machine.",
                busy=m["busy_percent"],
            )
        )
    return " ".join(sentences)


def control_in_words(m: Mapping[str, Any]) -> str:
    """What arms compared with themselves show, and what follows for false speed-ups."""
    bound = false_speedup_bound(
        m["control_over"], m["control_under"], m["control_starts"], m["starts"]
    )
    return say(
        "Noise control: arms that took part twice showed {false} false speed-ups in {controls}"
        " comparisons. In {over} of {n} starts the second part looked slower by over 2 %, in"
        " {under} faster: so a false speed-up has a chance of at most {bound:.2g} %.",
        false=m["false_speedups"],
        controls=m["controls"],
        over=m["control_over"],
        under=m["control_under"],
        n=m["control_starts"],
        bound=100 * bound,
    )


def ratio_of(m: Mapping[str, Any], name: str) -> Ratio:
    """A ratio metric with the ends of its interval."""
    return Ratio(m[name], m[f"{name}_low"], m[f"{name}_high"], m["starts"])


def ratio(m: Mapping[str, Any], name: str) -> str:
    """A ratio metric as text, with its interval."""
    return ratio_text(ratio_of(m, name))


def ratio_text(found: Ratio) -> str:
    """A ratio as text, with its interval."""
    return say(
        "{median:.3g}x ({low:.3g} to {high:.3g})",
        median=found.median,
        low=found.low,
        high=found.high,
    )


def verdict(m: Mapping[str, Any], name: str) -> str:
    """What a ratio metric's interval allows to say of the new against the old."""
    return verdict_text(ratio_of(m, name))


def verdict_text(found: Ratio) -> str:
    """What a ratio's interval allows to say of the new against the old."""
    words = {
        "faster": say("faster than"),
        "slower": say("slower than"),
        "inconclusive": say("not measurably different from"),
    }
    return words[found.verdict]


def beside_the_book(rows: Sequence[Sequence[str]]) -> Table:
    """The table of the book's printed numbers, this machine's, and why they differ."""
    return Table(
        ["", say("the book"), say("here"), say("why they differ")],
        rows,
        say(
            "The book's numbers are one sample each, from its executed notebooks on GPUs that it"
            " does not name."
        ),
    )


def skipped(results: Results) -> list[str]:
    """A sentence that lists what this machine cannot answer, or nothing."""
    reasons: dict[str, list[str]] = {}
    for m in results.skipped():
        reasons.setdefault(m.remark.removeprefix(SKIPPED), []).append(m.arm)
    lists = "; ".join(f"{', '.join(arms)} ({reason})" for reason, arms in reasons.items())
    return [say("Not answered on this machine: {lists}.", lists=lists)] if lists else []
