"""What the page on copying while computing names beside findings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lab.results.findings import Finding, Samples, median
from lab.results.measurements import Measurement, Results
from lab.results.stats import ANY
from stages.bench_overlap.findings import best_variant
from stages.bench_overlap.measure.names import ALONE, AS_THE_BOOK, PARTS

VERDICTS = ("faster", "slower", "inconclusive")
OUTCOMES = {"verdict": VERDICTS, "balanced": (True, False), "rough": (True, False)}
ROUGH = 0.3  # how wide the interval of an overlap is that says little


def values(results: Results, found: Mapping[str, Finding]) -> dict[str, object]:
    copies, overlap = int(results.conditions["num_results"]), found["overlap_fraction"]
    best = best_variant(results)
    return {
        "gpu": bool(found["notes_overlap"]),
        "verdict": found["speedup"].verdict,
        "rough": overlap.high - overlap.low > ROUGH,
        "balanced": results.conditions["workload"] == "balanced",
        "size": int(results.xs("times", best)[0]),
        "copies": copies,
        "bound": 2 * copies / (copies + 1),
        "beside": beside(results, best),
        "images": int(results.xs("backward pass", "first gradient ready")[0]),
        "ways": ways(results),
        "starts": results.conditions["starts"],
    }


def spans(results: Results, variant: str, activity: str) -> list[tuple[float, float]]:
    """When a run did something, from and to which millisecond, in their order."""
    return [
        (m.x, m.x + duration)
        for m in results.series("timeline", variant, activity=activity)
        for duration in m.values
    ]


def beside(results: Results, variant: str) -> float | None:
    """The share of the time of a run's copies that passes while a product is computed.

    None if the profiler saw no copies: a GPU's driver may keep that to administrators.
    """
    products, copies = (spans(results, variant, activity) for activity in ("compute", "copy"))
    shared = sum(
        max(0.0, min(end, other_end) - max(start, other_start))
        for start, end in copies
        for other_start, other_end in products
    )
    return shared / sum(end - start for start, end in copies) if copies else None


def hundredths(fraction: Measurement) -> Finding:
    """An overlap, which says nothing beyond its second decimal."""
    found = median(Samples(fraction.values), possible=ANY)
    return replace(found, value=round(found.value, 2))


def ways(results: Results) -> list[dict[str, Any]]:
    """Every variant: its time, and its overlap with whether that is a possible one."""
    timed = results.variants("times")
    order = [*(n for n in ALONE if n in timed), *(n for n in timed if n in PARTS)]
    if AS_THE_BOOK in results.variants("overlap"):
        order.append(AS_THE_BOOK)
    found = []
    for name in order:
        fraction, time = results.one("overlap", name), results.one("times", name)
        found.append(
            {
                "name": name,
                "time_s": time.summary.median / 1e3 if time else 0,
                "overlap": hundredths(fraction) if fraction else 0,
                "impossible": bool(fraction and fraction.remark),
            }
        )
    return found
