"""What the notes claim about what `bench_collectives` measures, and the rules that decide."""

from lab.claims.needs import on_own_devices
from lab.claims.rules import FASTER, speedup, values
from lab.claims.verdicts import Claim, Front, Kind
from lab.parallel.cost_model import LIBRARY, ONE_BUCKET, PER_TENSOR, STAR, allreduce_name
from stages.bench_collectives.measure import names

STAGE = "bench_collectives"
RESNET18 = names.of_ranks("resnet18", 2)
ALL_GRADIENTS = values(STAGE, RESNET18, allreduce_name(LIBRARY, ONE_BUCKET))
BY_NOTES = values(STAGE, RESNET18, allreduce_name(STAR, PER_TENSOR))


CLAIMS = (
    Claim(
        "E3b",
        "13.6",
        Kind.SAID,
        "000:435",
        "Optimising the tools that synchronise is worth it for high performance.",
        "ResNet-18's gradients summed in the notes' way over torch's own all-reduce of one bucket,"
        " between two processes, each with a device.",
        speedup(BY_NOTES, ALL_GRADIENTS, FASTER),
        "“High performance”: the whole interval over 1.02.",
        on_own_devices("bench_collectives"),
        about_gpus=True,
        front=Front(
            rank=11,
            confirmed="One all-reduce by torch over all gradients sums those of ResNet-18"
            " {number} times as fast as the notes' way, tensor by tensor.",
            refuted="One all-reduce by torch over all gradients is no faster than the notes'"
            " way, tensor by tensor: {number} times as fast for ResNet-18.",
        ),
    ),
)
