"""What the cost model says of this stage's rows: its link, fitted to the fewest ranks; no torch."""

from dataclasses import dataclass

from lab.parallel import link_fit
from lab.parallel.cost_model import MODELLED, PROBES, STAR, Link, allreduce_s
from lab.parallel.link_fit import FittedLink
from lab.results.measurements import Measurement, Results


@dataclass(frozen=True)
class Model:
    """The link that fits the fewest ranks' times better, and the other kind of link.

    `cores` are those that as many ranks share, by their number; 0 where each has its own.
    """

    results: Results
    cores: dict[int, int]
    fit: FittedLink
    other: FittedLink

    @property
    def few(self) -> int:
        """The ranks that it was fitted to."""
        return min(self.cores)

    @property
    def many(self) -> int:
        """The most ranks that there are times of; as many as `few` where it predicts none."""
        return max(self.cores)

    def seconds(self, algorithm: str, n: int, num_tensors: int, num_bytes: float) -> float:
        """The time of an all-reduce."""
        fit = self.fit
        return allreduce_s(algorithm, n, num_tensors, num_bytes, fit.link, fit.shared)

    def bucket_speedup(self, tensors: Measurement) -> float:
        """How many times faster the star sums one bucket than a net's tensors one by one."""
        each, joined = (
            self.seconds(STAR, self.few, count, tensors.x) for count in (int(tensors.values[0]), 1)
        )
        return each / joined

    def unseen_error(self, fit: FittedLink) -> float:
        """How far a fit's times of the most ranks are off: the median of the sizes, in percent."""
        times = _messages(self.results, self.many)
        samples = link_fit.samples_of(times, self.many, fit.shared)
        return link_fit.typical_errors(link_fit.errors(fit.link, samples))[0]

    def interval(self) -> tuple[Link, Link]:
        """The low and the high ends of the link's numbers."""
        times = _messages(self.results, self.few)
        return link_fit.link_interval(link_fit.samples_of(times, self.few, self.fit.shared))


def model_of(results: Results) -> Model:
    """The model of a stage's rows."""
    found = [m for m in results.measurements if m.experiment == "message" and m.values]
    cores = {int(m.columns["ranks"]): int(m.columns.get("cores", 0)) for m in found}
    cores = dict(sorted(cores.items()))
    few = min(cores)
    return Model(results, cores, *link_fit.fit_both(_messages(results, few), few))


def _messages(results: Results, n: int) -> list[Measurement]:
    """The times of what the model is about, the library's own all-reduce left out."""
    return [
        m for variant in (*MODELLED, *PROBES) for m in results.series("message", variant, ranks=n)
    ]
