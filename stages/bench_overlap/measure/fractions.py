"""The share of the possible overlap that each variant achieves."""

from collections.abc import Sequence

from lab.results.measurements import Measurement, Results
from lab.results.stats import CONFIDENCE, median_ratio
from stages.bench_overlap.measure import names

WRONG = "wrong: outside [0, 1]"


def overlap_fraction(parts: Sequence[float], total: float) -> float:
    """0 where `total` seconds are the sum of the parts, 1 where they are the longest part.

    For two parts (t1 + t2 - T) / min(t1, t2). Outside [0, 1], by more than noise, something else
    than overlap was measured.
    """
    return (sum(parts) - total) / (sum(parts) - max(parts))


def overlap_fractions(times: Sequence[Measurement]) -> list[Measurement]:
    """Each variant's fraction, start by start; WRONG where the whole interval cannot be overlap."""
    results, fractions = Results(times), []
    compared = [(variant, variant, parts) for variant, parts in names.PARTS.items()]
    compared.append((names.AS_THE_BOOK, names.BOOK, (names.COMPUTE, names.PAGEABLE_COPIES)))
    for name, variant, parts in compared:
        total = results.one(names.TIMES, variant)
        alone = [m for part in parts if (m := results.one(names.TIMES, part))]
        if total is None or len(alone) < len(parts):
            continue
        starts = zip(*(m.values for m in alone), strict=True)
        values = tuple(overlap_fraction(p, t) for p, t in zip(starts, total.values, strict=True))
        interval = median_ratio(values)
        impossible = interval.low > 1 or interval.high < 0
        remark = WRONG if impossible and interval.level >= CONFIDENCE else ""
        kind, threads = total.device_kind, total.threads
        fractions.append(
            Measurement(names.OVERLAP, name, total.x, values, "fraction", kind, threads, remark)
        )
    return fractions
