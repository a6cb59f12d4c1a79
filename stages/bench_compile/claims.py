"""What the notes claim about what `bench_compile` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column
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
    samples,
    speedup,
    times_ratio,
)
from lab.claims.verdicts import Claim
from lab.results.stats import SMALLEST_EFFECT
from stages.bench_compile import names

COMPILED = (names.SCRIPT, names.FROZEN, names.COMPILE, names.EXPORT, names.AOT)
DIFFERENCE = "difference of a logit"  # a unit
BOOK_CALLS = 1000  # that the notes time
BOOK_SIZE_KIB = 651  # of the saved network, as the book's notebook prints it


def at_batch_1(form: str) -> Column:
    """The times of a call of one image."""
    return arm("bench_compile", names.CALL, form, x="1.0")


def thousand_calls(
    first: Sequence[float],
    other_first: Sequence[float],
    calls: Sequence[float],
    other_calls: Sequence[float],
) -> Estimate:
    """1000 calls over another form's 1000, from the first calls (one sample) and later ones."""

    def totals(first: Sequence[float], later: Sequence[float]) -> list[float]:
        return [sum(first) + (BOOK_CALLS - len(first)) * t for t in later]

    return times_ratio(totals(first, calls), totals(other_first, other_calls))


def share_faster(eager: Sequence[float], *forms: Sequence[float]) -> Estimate:
    """Percent of the forms that are over 2 % faster than eager; the ends count surely and maybe."""
    speedups = [times_ratio(eager, form) for form in forms]

    def percent(ratios: list[float]) -> float:
        return 100 * sum(r > 1 + SMALLEST_EFFECT for r in ratios) / len(forms)

    return Estimate(
        percent([s.value for s in speedups]),
        percent([s.low for s in speedups]),
        percent([s.high for s in speedups]),
    )


CLAIMS = (
    Claim(
        "A3",
        "13.1",
        "000",
        "One thread of Python is what holds back a fast GPU server.",
        "Speed of a CUDA graph of the network, which runs without Python, over eager, at batch 1.",
        speedup(at_batch_1(names.INFERENCE), at_batch_1(names.GRAPH), at_least(2)),
        "A bottleneck takes half of the time or more: without it a call is twice as fast.",
        on_gpu("bench_compile"),
    ),
    Claim(
        "A4",
        "13.1",
        "000",
        "Compiling leaves the network's result unchanged.",
        "Largest difference of any logit from eager's, over all forms and batch sizes.",
        Rule(
            [arm("bench_compile", names.DIFFERENCE, "*")],
            farthest,
            at_most(names.TOLERANCE),
            DIFFERENCE,
        ),
        "Rounding in another order of operations may differ by this much in float32.",
    ),
    Claim(
        "A6a",
        "13.1",
        "000",
        "TorchScript makes the network faster.",
        "Eager over TorchScript, gradients on in both as in the notes, after warm-up, at batch 1.",
        speedup(at_batch_1(names.EAGER), at_batch_1(names.SCRIPT), FASTER),
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
                arm("bench_compile", names.FIRST_CALLS, names.EAGER),
                arm("bench_compile", names.FIRST_CALLS, names.SCRIPT),
                at_batch_1(names.EAGER),
                at_batch_1(names.SCRIPT),
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
        speedup(at_batch_1(names.INFERENCE), at_batch_1(names.SCRIPT), FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "A6d",
        "13.1",
        "000",
        "Compiling makes the notes' network faster, with today's compiler too.",
        "Eager without gradients over torch.compile, at batch 1.",
        speedup(at_batch_1(names.INFERENCE), at_batch_1(names.COMPILE), FASTER),
        "“Faster”: the whole interval over 1.02.",
    ),
    Claim(
        "A7a",
        "13.1",
        "000",
        "A compiled network can be saved and computes the same elsewhere.",
        "Largest difference of any saved form's logits, loaded in a new process.",
        Rule(
            [arm("bench_compile", names.SAVED_DIFFERENCE, "*")],
            farthest,
            at_most(names.TOLERANCE),
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
            [at_batch_1(form) for form in (names.INFERENCE, *COMPILED)],
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
            arm("bench_compile", names.SAVED_SIZE, names.SCRIPT),
            near(BOOK_SIZE_KIB, 0.01 * BOOK_SIZE_KIB),
            "KiB",
        ),
        "The same network in the same format: 1 % for what versions add.",
    ),
)
