"""What the page on copying while computing names: numbers, and what they decide."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.report.benchmarks import ratio_of, read
from lab.results.measurements import Measurement, Results
from lab.results.stats import ANY, Ratio, median_of
from stages.bench_overlap.measure.names import ALONE, AS_THE_BOOK, BESIDE, PARTS, SAME_IN_TURN

VERDICTS = ("faster", "slower", "inconclusive")
OUTCOMES = {"verdict": VERDICTS, "balanced": (True, False), "rough": (True, False)}
ROUGH = 0.3  # how wide the interval of an overlap is that says little
CALL = "the book's non_blocking call, nothing else at work"
NOTES = "the book's non_blocking, one stream"
WAYS = {  # the variants as the page calls them
    "compute alone": "computing only",
    "copies alone": "copying only",
    "pageable copies alone": "copying only, pageable memory",
    "non_blocking copies alone": "copying only, non_blocking",
    "uploads alone": "uploading only",
    "one after the other": "sequentially",
    BESIDE: "concurrently, two threads",
    "pageable memory, blocking": "pageable memory, one stream",
    NOTES: "the notes' non_blocking, one stream",
    "pinned buffers, one stream": "pinned memory, one stream",
    "pinned buffers, second stream": "pinned memory, two streams",
    "pinned buffers, both directions at once": "pinned memory, both directions",
    AS_THE_BOOK: "the book's comparison",
}


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_overlap)."""
    results, m = read(folder)
    best = m["best_arm"]
    speedup, overlap = ratio_of(m, "speedup"), ratio_of(m, "overlap_fraction")
    copies = int(m["num_results"])
    return {
        "gpu": on_gpu(results),
        "verdict": speedup.verdict,
        "speedup": speedup,
        "overlap": overlap,
        "rough": overlap.high - overlap.low > ROUGH,
        "balanced": m["workload"] == "balanced",
        "size": int(results.series("times", best)[0].x),
        "copies": copies,
        "bound": 2 * copies / (copies + 1),
        "sequential_s": seconds(results, SAME_IN_TURN[best]),
        "concurrent_s": seconds(results, best),
        "longer_s": max(seconds(results, part) for part in PARTS[best]),
        "beside": beside(results, best),
        "gradients": gradients(results),
        "ways": ways(results),
        "starts": m["starts"],
    }


def seconds(results: Results, variant: str) -> float:
    """The median time of a variant."""
    return results.series("times", variant)[0].summary.median / 1e3


def on_gpu(results: Results) -> dict[str, Any]:
    """What only a GPU shows: the overlap of the notes' way, and rates of copies; else nothing."""
    returns, arrives = (results.one(CALL, v) for v in ("call returns", "copies are there"))
    if not returns or not arrives:
        return {}
    rates = {
        f"{memory}_gbs": results.series("bandwidth", variant)[0].summary.median
        for memory, variant in (("pageable", "pageable copies alone"), ("pinned", "copies alone"))
    }
    fractions = {
        name: median_of(results.series("overlap", variant)[0].values, ANY)
        for name, variant in (("notes", NOTES), ("as_the_book", AS_THE_BOOK))
    }
    return {
        **rates,
        **fractions,
        "returns_s": returns.summary.median / 1e3,
        "arrives_s": arrives.summary.median / 1e3,
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


def gradients(results: Results) -> dict[str, Any]:
    """When LeNet's first and last gradients are ready."""
    first, last = (
        results.series("backward pass", f"{which} gradient ready")[0] for which in ("first", "last")
    )
    return {
        "images": int(first.x),
        "first_s": first.summary.median / 1e3,
        "last_s": last.summary.median / 1e3,
    }


def hundredths(fraction: Measurement) -> Ratio:
    """An overlap, which says nothing beyond its second decimal."""
    found = median_of(fraction.values, ANY)
    return replace(found, median=round(found.median, 2))


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
                "name": WAYS[name],
                "time_s": time.summary.median / 1e3 if time else 0,
                "overlap": hundredths(fraction) if fraction else 0,
                "impossible": bool(fraction and fraction.remark),
            }
        )
    return found
