"""What the notes claim about what `bench_buckets` measures, and the rules that decide."""

from lab.claims.needs import on_own_devices
from lab.claims.rules import FASTER, arm, at_least, ratio, samples
from lab.claims.verdicts import Claim, Kind
from stages.bench_buckets.measure import names

CLAIMS = (
    Claim(
        "C4e",
        "13.3",
        Kind.SAID,
        "000:250",
        "It is an advantage to move gradients while others are still computed.",
        "Step of ResNet-18 in two processes whose buckets are summed after the backward pass, over"
        " the step that sums each as soon as it is full.",
        ratio("bench_buckets", names.SPEEDUP, FASTER),
        "“Advantage”: surely more than 2 % faster.",
        on_own_devices("bench_buckets"),
    ),
    Claim(
        "C4f",
        "13.3",
        Kind.ASKED,
        "000:250",
        "Most gradients of ResNet-18 are ready before half of the backward pass is over.",
        "Share of the gradients' bytes that are ready by then.",
        samples(arm("bench_buckets", names.READY_BY_HALF, "resnet18"), at_least(50), "% of bytes"),
        "“Most”: more than half of the bytes.",
    ),
)
