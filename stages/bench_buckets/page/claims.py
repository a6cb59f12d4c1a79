"""What the notes claim about what `bench_buckets` measures, and the rules that decide."""

from lab.claims.needs import ON_OWN_DEVICES
from lab.claims.rules import FASTER, Rule
from lab.claims.verdicts import Claim, Kind

CLAIMS = (
    Claim(
        "C4e",
        "13.3",
        Kind.ASKED,
        "000:250",
        "Between two processes it is an advantage to sum gradients while others are still"
        " computed.",
        "Step of ResNet-18 in two processes whose buckets are summed after the backward pass, over"
        " the step that sums each as soon as it is full. Without GPUs one processor computes and"
        " sums.",
        Rule("resnet18_overlap_speedup", FASTER),
        "“Advantage”: surely more than 2 % faster.",
        ON_OWN_DEVICES,
        about_gpus=True,
    ),
)
