"""What the notes claim about what `bench_collectives` measures, and the rules that decide."""

from lab.claims.needs import ON_OWN_DEVICES
from lab.claims.rules import FASTER, Rule
from lab.claims.verdicts import Claim, Front, Kind

CLAIMS = (
    Claim(
        "E3b",
        "13.6",
        Kind.SAID,
        "000:435",
        "Optimising the tools that synchronise is worth it for high performance.",
        "Time to sum ResNet-18's gradients as in the notes relative to torch's own all-reduce of"
        " one bucket, between two processes, each with a device.",
        Rule("library_speedup", FASTER),
        "“High performance”: the whole interval over 1.02.",
        ON_OWN_DEVICES,
        about_gpus=True,
        front=Front(
            11,
            "Summing all gradients as one bucket with torch is no faster than "
            "the notes' sum, tensor by tensor: {number}× as fast for ResNet-18.",
        ),
    ),
)
