"""What the rows say of one arm against another; sample i of each is of start i."""

from collections.abc import Sequence

from lab.results.measurements import Results
from lab.results.stats import Ratio, speedup
from stages.bench_training import names


def notes_arm(results: Results, net: str, notes_workers: int) -> str:
    """The notes' way that others are held against, not the one that the trial found slower."""
    raced = [arm for arm in names.BY_THE_NOTES.values() if arm in results.arms(net)]
    return names.BY_THE_NOTES[notes_workers] if len(raced) > 1 else raced[0]


def gain(results: Results, demo: str, arm: str, over: str) -> Ratio | None:
    """How many times faster an arm is than another; None where one was not measured."""
    new, old = results.one(demo, arm), results.one(demo, over)
    return speedup(old.values, new.values) if old and new else None


def ms_at_peak(results: Results, net: str, product: str = names.PRODUCT) -> list[float]:
    """What a step would take at the rate of large products, in each start."""
    [found] = results.series(net, product)
    return [found.x * ms for ms in found.values]


def share_of_peak(
    results: Results, net: str, arm: str = names.ENGINE, product: str = names.PRODUCT
) -> Ratio | None:
    """An arm's FLOP per second over those of large products in the same starts."""
    found = results.one(net, arm)
    return speedup(ms_at_peak(results, net, product), found.values) if found else None


def product_gflops(ms: Sequence[float], rows: int) -> list[float]:
    """The rates of products of square matrices."""
    return [2 * rows**3 / (t / 1e3) / 1e9 for t in ms]
