"""The numbers derived from bench_overlap's rows."""

from lab.results.findings import Finding, median, ratio
from lab.results.measurements import Results
from lab.results.stats import ANY
from stages.bench_overlap.measure.names import (
    AS_THE_BOOK,
    CONCURRENT,
    PARTS,
    SAME_IN_TURN,
    TWO_STREAMS,
)

METRICS = ("overlap_fraction", "speedup")
NOTES = "the notes' non_blocking, one stream"
CALL = "the book's non_blocking call, nothing else at work"


def findings(results: Results) -> dict[str, Finding]:
    best = best_variant(results)

    def seconds(experiment: str, variant: str) -> Finding:
        return median(results.samples(experiment, variant) * 1e-3, "s", better="less")

    def overlap(variant: str) -> Finding:
        samples = results.samples("overlap", variant)
        return median(samples, "of the possible overlap", possible=ANY, better="more")

    def bandwidth(variant: str) -> Finding:
        return median(results.samples("bandwidth", variant), "GB/s", better="more")

    first, last = (
        results.samples("backward pass", f"{which} gradient ready") for which in ("first", "last")
    )
    sequential, concurrent = (
        results.samples("times", variant) for variant in (SAME_IN_TURN[best], best)
    )
    parts = [seconds("times", part) for part in PARTS[best]]
    return {
        "speedup": ratio(sequential, concurrent),
        "overlap_fraction": overlap(best),
        "sequential_s": seconds("times", SAME_IN_TURN[best]),
        "concurrent_s": seconds("times", best),
        "longer_s": max(parts, key=lambda part: part.value),
        "notes_overlap": overlap(NOTES),
        "book_overlap": overlap(AS_THE_BOOK),
        "pageable_gbs": bandwidth("copying only, pageable memory"),
        "pinned_gbs": bandwidth("copying only"),
        "call_over_copies": ratio(
            results.samples(CALL, "call returns"),
            results.samples(CALL, "copies are there"),
            "of the copies' time",
        ),
        "call_returns_s": seconds(CALL, "call returns"),
        "copies_there_s": seconds(CALL, "copies are there"),
        "first_gradient": ratio(first, last, "of the whole pass"),
        "first_gradient_s": seconds("backward pass", "first gradient ready"),
        "last_gradient_s": seconds("backward pass", "last gradient ready"),
    }


def best_variant(results: Results) -> str:
    """Return the variant that computes and copies concurrently, with a GPU or without."""
    return TWO_STREAMS if TWO_STREAMS in results.variants("times") else CONCURRENT
