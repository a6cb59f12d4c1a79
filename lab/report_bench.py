"""What the report's sections on benchmarks share: reading, curves of measurements, and how far to trust them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.curves import Curve, curve, line
from lab.measurements import SKIPPED, Measurement, Results, measurements_of
from lab.page import Table
from lab.records import read_json, read_rows
from lab.stats import Ratio, speedup

BUSY_PERCENT = 10  # of all cores, taken by others during the measurement: the page asks for care
DEVICES = {"cpu": "the processor", "cpu-virtual": "virtual devices on the CPU", "cuda": "CUDA GPUs",
           "cuda-shared": "replicas sharing a GPU"}  # fmt: skip


def read(folder: Path) -> tuple[Results, dict[str, Any]]:
    """Return a benchmark stage's measurements and metrics."""
    return Results(measurements_of(read_rows(folder / "rows.csv"))), read_json(folder / "metrics.json")


def curve_of(series: Sequence[Measurement], name: str, scale: float = 1.0) -> Curve:
    """Return the medians of a series against x with the band of their middle halves."""
    return curve("", name, [m.x for m in series], [scale * np.array(m.values) for m in series])


def speedup_curve(old: Sequence[Measurement], new: Sequence[Measurement], name: str) -> Curve:
    """Return how many times faster `new` is at each x both have, with the 99 % interval as band."""
    before = {m.x: m for m in old}
    pairs = [(m.x, speedup(before[m.x].values, m.values)) for m in new if m.x in before]
    drawn = line("", name, [x for x, _ in pairs], [r.median for _, r in pairs])
    return replace(drawn, low=np.array([r.low for _, r in pairs]), high=np.array([r.high for _, r in pairs]))


def trust(m: Mapping[str, Any]) -> str:
    """Return the sentence that says on what, how noisily, and against which control a stage measured."""
    threads = f", {m['threads_per_device']} thread(s) each" if str(m["device_kind"]).startswith("cpu") else ""
    busy = (
        f" Others took {m['busy_percent']:.0f} % of the cores meanwhile: measure again on a quiet machine."
        if m["busy_percent"] > BUSY_PERCENT
        else ""
    )
    control = (
        f" The same arm against itself showed {m['aa_false_speedups']} false speed-ups in {m['aa_runs']}"
        f" comparisons; {m['noisy_percent']:.0f} % of the measurements spread by more than a tenth."
        if m["aa_runs"]
        else f" {m['noisy_percent']:.0f} % of the measurements spread by more than a tenth."
    )
    return f"Measured on {DEVICES[m['device_kind']]} ({m['num_devices']}{threads}).{control}{busy}"


def ratio(m: Mapping[str, Any], name: str) -> str:
    """Return a ratio metric as text with its interval."""
    return f"{m[name]:.3g}x ({m[f'{name}_low']:.3g} to {m[f'{name}_high']:.3g})"


def verdict(m: Mapping[str, Any], name: str) -> str:
    """Return what a ratio's interval allows to say of the new against the old."""
    words = {"faster": "faster than", "slower": "slower than", "inconclusive": "not measurably different from"}
    return words[Ratio(m[name], m[f"{name}_low"], m[f"{name}_high"]).verdict]


def beside_the_book(rows: Sequence[Sequence[str]]) -> Table:
    """Return the table of the book's printed numbers, this machine's, and why they differ."""
    return Table(
        ["", "the book", "here", "why they differ"],
        rows,
        "The book's numbers are one sample each, from its executed notebooks on GPUs that it does not name.",
    )


def skipped(results: Results) -> list[str]:
    """Return a sentence that lists what this machine cannot answer, or nothing."""
    reasons: dict[str, list[str]] = {}
    for m in results.skipped():
        reasons.setdefault(m.remark.removeprefix(SKIPPED), []).append(m.arm)
    lists = "; ".join(f"{', '.join(arms)} ({reason})" for reason, arms in reasons.items())
    return [f"Not answered on this machine: {lists}."] if lists else []
