"""What a machine, its data and its settings must be for a claim to be testable."""

from dataclasses import dataclass

from lab.claims.evidence import GPU_KINDS, Evidence, Metric, NotTestableError


@dataclass(frozen=True)
class Need:
    """What a stage must have run on for a claim to be testable: `metric` is one of `accepted`.

    `label` and `remedy`, what would make it testable, are messages that catalogues translate.
    """

    label: str
    metric: Metric
    accepted: tuple[str | float, ...]
    remedy: str

    def check(self, evidence: Evidence) -> None:
        """Raise NotTestableError unless the need is met."""
        found = evidence.value(self.metric)
        if isinstance(found, bool) or found not in self.accepted:
            raise NotTestableError(
                f"needs {self.label}: {self.metric.name} of {self.metric.folder} is {found!r};"
                f" {self.remedy}"
            )


A_GPU, TWO_GPUS, OWN_DEVICES = ("a GPU", "2 GPUs", "a device for each job")
REAL_DATA = "real data"
FETCH = "`invoke remeasure --stage fetch` with a network brings it"


def on_gpu(folder: str) -> tuple[Need, ...]:
    """What a claim about GPUs needs: virtual devices never confirm it."""
    return (
        Need(
            A_GPU,
            Metric(folder, "device_kind"),
            GPU_KINDS,
            "`invoke repro` on a machine with one measures it",
        ),
    )


def on_two_gpus(folder: str) -> tuple[Need, ...]:
    """What a claim about several GPUs needs."""
    remedy = "`invoke repro` on a machine with two measures it"
    return (
        Need(TWO_GPUS, Metric(folder, "device_kind"), ("cuda",), remedy),
        Need(TWO_GPUS, Metric(folder, "num_devices"), (2,), remedy),
    )


def on_own_devices(folder: str) -> tuple[Need, ...]:
    """What a claim about several devices of any kind needs: streams of one GPU are one device."""
    kinds = ("cuda", "cpu-virtual")
    return (
        Need(
            OWN_DEVICES,
            Metric(folder, "device_kind"),
            kinds,
            "`invoke repro` on a machine with two GPUs or none measures it",
        ),
    )


def real_images(folder: str) -> tuple[Need, ...]:
    """What a claim about accuracy needs: look-alikes of Fashion-MNIST say nothing about it."""
    return (Need(REAL_DATA, Metric(folder, "dataset"), ("fashion-mnist",), FETCH),)


def real_airfoil(folder: str) -> tuple[Need, ...]:
    """What a claim about losses on the airfoil table needs."""
    return (Need(REAL_DATA, Metric(folder, "airfoil"), ("original",), FETCH),)
