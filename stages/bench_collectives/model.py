"""What the cost model says of this stage's rows: its link, fitted to the fewest ranks; no torch."""

from dataclasses import dataclass

from lab.parallel import link_fit
from lab.parallel.cost_model import MODELLED, PROBES, STAR, Link, allreduce_s
from lab.parallel.link_fit import FittedLink
from lab.results.findings import Samples
from lab.results.measurements import Measurement, Results
from lab.results.reasons import NOT_MEASURED, UNUSABLE, Reason


@dataclass(frozen=True)
class Model:
    """The link that fits the fewest ranks' times better, and the other kind of link.

    `cores` are those that as many ranks share, by their number; 0 where each has its own. `times`
    are those of the fewest ranks, which both links are fitted to.
    """

    results: Results
    cores: dict[int, int]
    times: list[Measurement]
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

    def unseen_errors(self, fit: FittedLink) -> Samples:
        """How far a fit's time of each message of the most ranks is off, in percent."""
        if self.many == self.few:
            return Samples(missing=Reason(NOT_MEASURED, f"more than {self.few} ranks"))
        times = _messages(self.results, self.many)
        samples = link_fit.samples_of(times, self.many, fit.shared)
        if not samples:
            why = f"no message has a number for each of {self.many} ranks"
            return Samples(missing=Reason(UNUSABLE, why))
        percent = tuple(100 * abs(error) for error in link_fit.errors(fit.link, samples))
        return Samples(percent, frozenset(m.device_kind for m in times))

    def interval(self) -> tuple[Link, Link]:
        """The low and the high ends of the link's numbers."""
        return link_fit.link_interval(link_fit.samples_of(self.times, self.few, self.fit.shared))


def model_of(results: Results) -> Model:
    """The model of a stage's rows.

    Raises:
        ValueError: too few messages to fit a link to, or other numbers of starts.
    """
    found = [m for m in results.measurements if m.experiment == "message" and m.values]
    cores = {int(m.columns["ranks"]): int(m.columns.get("cores", 0)) for m in found}
    if not cores:
        raise ValueError("messages")
    few = min(cores)
    times = _messages(results, few)
    return Model(results, dict(sorted(cores.items())), times, *link_fit.fit_both(times, few))


def _messages(results: Results, n: int) -> list[Measurement]:
    """The times of what the model is about, the library's own all-reduce left out."""
    return [
        m for variant in (*MODELLED, *PROBES) for m in results.series("message", variant, ranks=n)
    ]
