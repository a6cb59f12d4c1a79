"""What the rows say of one arm against another."""

from collections.abc import Sequence

from lab.results.measurements import Measurement, Results
from lab.results.stats import Ratio, speedup
from stages.bench_training import names


def faster_by_the_notes(results: Results, net: str) -> Measurement:
    """The notes' way with the loader setting that is faster here."""
    found = [m for arm in names.BY_THE_NOTES if (m := results.one(net, arm))]
    return min(found, key=lambda m: m.summary.median)


def fp32_speedup(results: Results, net: str) -> Ratio:
    """How many times faster the engine is than the notes' way, on the same mathematics."""
    return speedup(faster_by_the_notes(results, net).values, _ms(results, net, names.ENGINE))


def gain(results: Results, net: str, arm: str, over: str) -> Ratio | None:
    """How many times faster an arm is than another; None where it was not measured."""
    if arm not in results.arms(net):
        return None
    return speedup(_ms(results, net, over), _ms(results, net, arm))


def ms_at_peak(results: Results, net: str) -> list[float]:
    """What a step would take at the rate of large products, in each round."""
    [product] = results.series(net, names.PRODUCT)
    return [product.x * ms for ms in product.values]


def share_of_peak(results: Results, net: str) -> Ratio:
    """The engine's FLOP per second over those of large products in the same rounds."""
    return speedup(ms_at_peak(results, net), _ms(results, net, names.ENGINE))


def _ms(results: Results, net: str, arm: str) -> Sequence[float]:
    [found] = results.series(net, arm)
    return found.values
