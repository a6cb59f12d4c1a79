"""What the notes claim about what `bench_compile` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Metric
from lab.claims.needs import on_gpu
from lab.claims.rules import (
    AS_FAST,
    FASTER,
    Estimate,
    Rule,
    arm,
    at_least,
    at_most,
    farthest,
    near,
    ratio,
    samples,
    times_ratio,
)
from lab.claims.verdicts import Claim
from lab.results.stats import SMALLEST_EFFECT

COMPILED = (
    "torchscript_deprecated",
    "torchscript_frozen_deprecated",
    "torchcompile",
    "torchexport",
    "aotinductor",
)
# as stages.bench_compile.compiled, which needs torch
EAGER, SCRIPT = "eager", "TorchScript (deprecated)"
DIFFERENCE = "difference of a logit"
# logits: the largest difference that rounding in another order explains, as
# stages.bench_compile.compiled says
SAME_OUTPUT = 1e-4
BOOK_CALLS = 1000  # that the notes time
BOOK_SIZE_KIB = 651  # of the saved network, as the book's notebook prints it


def thousand_calls(
    first: Sequence[float],
    other_first: Sequence[float],
    calls: Sequence[float],
    other_calls: Sequence[float],
) -> Estimate:
    """Return the time of 1000 calls over another form's, from the first calls (one sample) and
    later ones.
    """

    def totals(first: Sequence[float], later: Sequence[float]) -> list[float]:
        return [sum(first) + (BOOK_CALLS - len(first)) * t for t in later]

    return times_ratio(totals(first, calls), totals(other_first, other_calls))


def share_faster(*ratios: float) -> Estimate:
    """Return the share of ratios (median, low and high of each) over 1.02 in percent: surely, and
    possibly.
    """
    low, median, high = (
        100 * sum(r > 1 + SMALLEST_EFFECT for r in ratios[i::3]) / len(COMPILED) for i in (1, 0, 2)
    )
    return Estimate(median, low, high)


CLAIMS = (
    Claim(
        "A3",
        "13.1",
        "000",
        "One thread of Python is what holds back a fast GPU server.",
        "Speed of a CUDA graph of the network, which runs without Python, over eager, at batch 1.",
        ratio("bench_compile", "torchcompile_cuda_graph_speedup", at_least(2)),
        "A bottleneck takes half of the time or more: without it a call is twice as fast.",
        on_gpu("bench_compile"),
    ),
    Claim(
        "A4",
        "13.1",
        "000",
        "Compiling leaves the network's result unchanged.",
        "Largest difference of any logit from eager's, over all forms and batch sizes.",
        Rule([arm("bench_compile", "difference", "*")], farthest, at_most(SAME_OUTPUT), DIFFERENCE),
        "Rounding in another order of operations may differ by this much in float32.",
    ),
    Claim(
        "A6a",
        "13.1",
        "000",
        "TorchScript makes the network faster.",
        "Eager over TorchScript, gradients on in both as in the notes, after warm-up, at batch 1.",
        ratio("bench_compile", "book_torchscript_over_eager", FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "A6b",
        "13.1",
        "000",
        "1000 calls, timed as in the notes, show that TorchScript is faster.",
        "1000 calls counted from the first, as in the notes: eager over TorchScript.",
        Rule(
            [
                arm("bench_compile", "first_calls", EAGER),
                arm("bench_compile", "first_calls", SCRIPT),
                arm("bench_compile", "call", EAGER, x="1.0"),
                arm("bench_compile", "call", SCRIPT, x="1.0"),
            ],
            thousand_calls,
            FASTER,
            AS_FAST,
        ),
        "“Faster”: the whole interval over 1.02. The first calls are one sample.",
    ),
    Claim(
        "A6c",
        "13.1",
        "000",
        "What TorchScript gains comes from compiling.",
        "Eager without gradients over TorchScript, at batch 1: what no_grad gains is not the"
        " compiler's.",
        ratio("bench_compile", "torchscript_deprecated_speedup", FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "A6d",
        "13.1",
        "000",
        "Compiling makes the notes' network faster, with today's compiler too.",
        "Eager without gradients over torch.compile, at batch 1.",
        ratio("bench_compile", "torchcompile_speedup", FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "A7a",
        "13.1",
        "000",
        "A compiled network can be saved and computes the same elsewhere.",
        "Largest difference of any saved form's logits, loaded in a new process.",
        Rule(
            [arm("bench_compile", "saved_difference", "*")],
            farthest,
            at_most(SAME_OUTPUT),
            DIFFERENCE,
        ),
        "Rounding in another order of operations may differ by this much in float32.",
    ),
    Claim(
        "A7b",
        "13.1",
        "000",
        "Compiled code is usually faster.",
        "Share of five compiled forms that are faster than eager without gradients, at batch 1.",
        Rule(
            [
                Metric("bench_compile", f"{form}_speedup{end}")
                for form in COMPILED
                for end in ("", "_low", "_high")
            ],
            share_faster,
            at_least(50),
            "% of the forms",
        ),
        "“Usually”: half of them or more.",
    ),
    Claim(
        "A7c",
        "13.1",
        "000",
        "The saved network takes 651 KiB.",
        "Size of the TorchScript file.",
        samples(
            arm("bench_compile", "saved_size", SCRIPT),
            near(BOOK_SIZE_KIB, 0.01 * BOOK_SIZE_KIB),
            "KiB",
        ),
        "The same network in the same format: 1 % for what versions add.",
    ),
)
