"""Whether intervals of 4 to 8 starts hold the median, drawn from what starts really came to.

    python -m bench.intervals

The committed rows have the ratios of each variant to the first of its experiment in the same start.
Divided by their medians they are a pool of what a start does to a ratio. Small experiments of
these, of whole stages or mixed, show how often `median_interval` holds the pool's median, and how
wide it is. A mixture of two speeds, which its assumption excludes, stands beside them.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from lab.core.files import REPORTS, read_rows
from lab.results.measurements import Results, measurements_of
from lab.results.stats import POSITIVE, median_interval, median_level, paired_ratios

EXPERIMENTS, COUNTS = 20_000, (4, 5, 6, 8)


def pools() -> Iterator[tuple[str, list[float]]]:
    """The logarithms of the stages' ratios over their medians, by stage; then all of them."""
    everything = []
    for path in sorted(REPORTS.glob("bench_*/rows.csv")):
        pool = list(residuals(Results(measurements_of(read_rows(path)))))
        everything += pool
        yield path.parent.name, pool
    yield "all stages", everything


def residuals(results: Results) -> Iterator[float]:
    """What starts do to ratios of two variants, as logarithms around their medians."""
    first: dict[tuple[str, float, str], tuple[float, ...]] = {}
    for m in results.measurements:
        if m.unit not in ("s", "ms", "us", "ns") or len(m.values) < 5 or min(m.values) <= 0:
            continue
        base = first.setdefault((m.experiment, m.x, str(m.columns)), m.values)
        if base is not m.values and len(base) == len(m.values):
            logs = np.log(paired_ratios(base, m.values))
            yield from logs - np.median(logs)


def two_speeds(share: float, slower: float) -> list[float]:
    """Starts of which some are slower by a factor, with a spread of 2 %."""
    rng = np.random.default_rng(0)
    speeds = np.where(rng.random(EXPERIMENTS) < share, math.log(slower), 0)
    return list(speeds + rng.normal(0, 0.02, EXPERIMENTS))


def held(pool: list[float], count: int) -> tuple[float, float]:
    """How many of a hundred intervals hold the pool's median; how wide they are, in percent."""
    drawn = np.exp(np.random.default_rng(1).choice(pool, (EXPERIMENTS, count)))
    ends = np.array([median_interval(each, POSITIVE) for each in drawn])
    true = math.exp(np.median(pool))
    inside = np.mean((ends[:, 0] <= true) & (true <= ends[:, 1]))
    return 100 * float(inside), 100 * float(np.median(ends[:, 1] / ends[:, 0]) - 1)


def main() -> None:
    """Print a line for each pool."""
    mixtures: Mapping[str, list[float]] = {
        f"{100 * share:.0f} % slower by {100 * (slower - 1):.0f} %": two_speeds(share, slower)
        for share in (0.1, 0.25, 0.4)
        for slower in (1.05, 1.25)
    }
    print("held in percent (median width in percent) by the number of starts")
    print(f"{'level':34}" + "".join(f"{100 * median_level(n):6.2f}{'':10}" for n in COUNTS))
    for name, pool in [*pools(), *mixtures.items()]:
        if len(pool) > 50:
            cells = [held(pool, n) for n in COUNTS]
            label = f"{name} ({len(pool)})"
            print(f"{label:34}" + "".join(f"{h:6.2f} ({w:5.1f}) " for h, w in cells))


if __name__ == "__main__":
    main()
