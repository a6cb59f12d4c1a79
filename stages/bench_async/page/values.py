"""What the page on asynchronous computation names: numbers, and what they decide."""

from pathlib import Path

from lab.report.benchmarks import ratio_of, read
from lab.results.measurements import Results
from lab.results.stats import Ratio, speedup
from stages.bench_async.page.claims import RETURNS_BEFORE

CALLS = ("on a CPU", "queued", "undecided")  # when they return, or what decides that
OUTCOMES = {"calls": CALLS, "fair_verdict": ("inconclusive", "faster", "slower")}


def values(folder: Path) -> dict[str, object]:
    """The values of `folder` (reports/bench_async)."""
    results, m = read(folder)
    share, fair = ratio_of(m, "return_over_finish"), as_fast_as_numpy(results, *FAIR)
    return {
        "calls": calls(share, str(m["device_kind"])),
        "share": share,
        "claimed": ratio_of(m, "book_claims"),
        "fair": fair,
        "fair_verdict": fair.verdict,
        "size": int(results.series("book", FAIR[0])[0].x),
        "first_times": m["no_warm_up_over_steady"],
        "added_us": added_us(results),
        "waiting_s": waiting_s(results),
        "starts": m["starts"],
        "noisy_percent": m["noisy_percent"],
    }


def calls(share: Ratio, device_kind: str) -> str:
    """Whether calls only queue work, by the share of its time after which they return."""
    on_cpu, queued, undecided = CALLS
    if device_kind == "cpu-virtual":
        return on_cpu
    return queued if share.high < RETURNS_BEFORE else undecided


FAIR = ("numpy, products alone", "torch, products alone")


def as_fast_as_numpy(results: Results, numpy: str, torch: str) -> Ratio:
    """How many times as fast as numpy torch computes the ten products, by one way to time both."""
    old, new = (results.series("book", variant)[0].values for variant in (numpy, torch))
    return speedup(old, new)


def added_us(results: Results) -> dict[str, float]:
    """What each thing that makes Python wait adds to a small operation, in µs."""
    [nothing] = results.series("blocker", "nothing")
    return {
        variant: results.series("blocker", variant)[0].summary.median - nothing.summary.median
        for variant in results.variants("blocker")
        if variant != "nothing"
    }


def waiting_s(results: Results) -> float:
    """What waiting after each of many small operations costs more than waiting once, for each."""
    each, once = (
        results.series("run_ahead", variant)[-1]
        for variant in ("waiting after each", "waiting once")
    )
    return 1e-6 * (each.summary.median - once.summary.median) / each.x
