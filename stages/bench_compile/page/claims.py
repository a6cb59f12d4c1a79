"""What the notes claim about what `bench_compile` measures, and the rules that decide."""

from collections.abc import Sequence

from lab.claims.evidence import Column
from lab.claims.needs import on_gpu
from lab.claims.rules import (
    AS_FAST,
    FASTER,
    Estimate,
    Over,
    Range,
    Rule,
    at_least,
    at_most,
    farthest,
    median,
    speedup,
    times_ratio,
    values,
)
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured
from stages.bench_compile.measure import names

DIFFERENCE = "(largest difference of a logit)"  # a unit
SERVER_GPUS = 8  # of the server that the notes name
HALF_A_CORE = 1.5  # x as many calls: a second thread adds half a core's or more


def at_batch_1(form: str) -> Column:
    """The times of a call of one image."""
    return values("bench_compile", "call", form, x="1.0")


def thousand(form: str) -> Column:
    """The times of 1000 calls as the notes take them."""
    return values("bench_compile", "thousand_calls", form)


def by_threads(form: str, count: int) -> Column:
    """The times of a call when so many threads call."""
    return values("bench_compile", "threads", form, x=f"{count}.0")


def cases(form: str, column: str = "value") -> Column:
    """A column of the rows of all networks and batch sizes."""
    return values("bench_compile", "cases", form, column)


def equal_outputs(experiment: str, form: str = "*") -> Rule:
    """The rule that no logit differs from eager's by more than rounding explains."""
    return Rule(
        [values("bench_compile", experiment, form)], farthest, at_most(names.TOLERANCE), DIFFERENCE
    )


def busy_gpus(holds: Range) -> Rule:
    """The rule of how many GPUs one thread keeps busy: their time of a call over Python's."""
    python = values("bench_compile", "enqueue", names.INFERENCE, x="1.0")
    return speedup(at_batch_1(names.GRAPH), python, holds, "GPUs")


def with_first_call(
    eager: Sequence[float], script: Sequence[float], first: Sequence[float]
) -> Estimate:
    """Eager over TorchScript, which also pays for the first call of it in its process."""
    return times_ratio(eager, [calls + once for calls, once in zip(script, first, strict=True)])


def over_cases(
    eager: Sequence[float], script: Sequence[float], starts: Sequence[float]
) -> Estimate:
    """The speed-up in the middle one of the cases; `starts` begins anew with each case.

    A case's own is the median over its starts.
    """
    first = [i for i, start in enumerate(starts) if start == 0]
    ends = zip(first, [*first[1:], len(starts)], strict=True)
    of_cases = [times_ratio(eager[i:j], script[i:j]).value for i, j in ends]
    return median(of_cases, Over.CASES)


CLAIMS = (
    Claim(
        "A3",
        "13.1",
        Kind.SAID,
        "000:49",
        "At batch 1 one thread of Python can hardly keep the eight GPUs of a fast server busy.",
        "GPUs that one thread can keep busy at batch 1: the GPU's time of an eager call, replayed"
        " as a CUDA graph, over the time until that call returns to Python.",
        busy_gpus(at_most(SERVER_GPUS)),
        "Fewer than the server's eight.",
        on_gpu("bench_compile"),
    ),
    Claim(
        "A3d",
        "13.1",
        Kind.ASKED,
        "000:49",
        "Two Python threads call the eager network side by side.",
        "Calls of batch 1 that two Python threads make of the eager network over those of one, on"
        " this machine's device.",
        speedup(
            by_threads(names.EAGER, 1),
            by_threads(names.EAGER, 2),
            at_least(HALF_A_CORE),
            "times as many calls",
        ),
        "“Side by side”: a second thread adds half of what a second core could, or more.",
    ),
    Claim(
        "A3e",
        "13.1",
        Kind.ASKED,
        "000:49",
        "Two Python threads call the compiled network side by side.",
        "Calls of batch 1 that two Python threads make of the TorchScript network over those of"
        " one, on this machine's device.",
        speedup(
            by_threads(names.SCRIPT, 1),
            by_threads(names.SCRIPT, 2),
            at_least(HALF_A_CORE),
            "times as many calls",
        ),
        "“Side by side”: a second thread adds half of what a second core could, or more.",
    ),
    Claim(
        "A4",
        "13.1",
        Kind.SAID,
        "000:70",
        "Compiling leaves the network's result unchanged.",
        "Largest difference of any logit from eager's, over all forms and batch sizes.",
        equal_outputs("difference"),
        "Rounding in another order of operations may differ by this much in float32.",
    ),
    Claim(
        "A6a",
        "13.1",
        Kind.SAID,
        "000:79",
        "Compiling with TorchScript improves the network's performance.",
        "Time in eager mode relative to TorchScript, gradients on in both as in the notes, after"
        " warm-up, at batch 1.",
        speedup(at_batch_1(names.EAGER), at_batch_1(names.SCRIPT), FASTER),
        "“Improves”: the whole interval over 1.02.",
        front=Front(
            8,
            "TorchScript does not make the notes' small network faster: a call "
            "is {number}× as fast as in eager mode.",
        ),
    ),
    Claim(
        "A6b",
        "13.1",
        Kind.SAID,
        "000:79-110",
        "The notes' timing of 1000 calls shows the gain: TorchScript has been called before the"
        " clock starts.",
        "Time in eager mode relative to TorchScript, 1000 calls run as in the notes, where a"
        " network has been scripted and called before: TorchScript's start in the process is not"
        " in them.",
        speedup(thousand(names.EAGER), thousand(names.SCRIPT), FASTER),
        "“Shows”: the whole interval over 1.02.",
    ),
    Claim(
        "A6d",
        "13.1",
        Kind.ASKED,
        "000:79",
        "torch.compile, today's compiler, makes the notes' network faster at batch 1.",
        "Time in eager mode without gradients relative to torch.compile, at batch 1.",
        speedup(at_batch_1(names.INFERENCE), at_batch_1(names.COMPILE), FASTER),
        "“Faster”: the whole interval over 1.02.",
        front=Front(
            9,
            "Today's compiler, torch.compile, does not make the notes' small "
            "network faster: at batch size 1 it runs {number}× as fast as in "
            "eager mode.",
        ),
    ),
    Claim(
        "A6e",
        "13.1",
        Kind.ASKED,
        "000:98-110",
        "1000 calls of TorchScript are still faster when its first call in the process is counted.",
        "Time in eager mode relative to TorchScript, 1000 calls run as in the notes; added to"
        " TorchScript's is the time of the process's first call of it, which the notes make"
        " before they start the clock.",
        Rule(
            [thousand(names.EAGER), thousand(names.SCRIPT), thousand(names.FIRST_SCRIPT)],
            with_first_call,
            FASTER,
            AS_FAST,
        ),
        "“Faster”: the whole interval over 1.02.",
        front=Front(
            7,
            "Start-up included, TorchScript does not pay in a process's first "
            "1000 calls: they run {number}× as fast as in eager mode.",
        ),
    ),
    Claim(
        "A7b",
        "13.1",
        Kind.SAID,
        "000:113",
        "Compiled code is usually faster than imperative code.",
        "Time in eager mode relative to TorchScript, both without gradients, in the middle one"
        " of several networks at several batch sizes.",
        Rule(
            [cases(names.EAGER), cases(names.SCRIPT), cases(names.EAGER, "sample")],
            over_cases,
            FASTER,
            AS_FAST,
        ),
        "“Usually”: in most of the cases, so in the middle one; faster: by over 2 %.",
    ),
    Claim(
        "A7d",
        "13.1",
        Kind.SAID,
        "000:113 000:173",
        "The saved network can be used from other languages than Python, such as C++.",
        "Largest difference of a logit that a C++ program computes with the file from eager's.",
        equal_outputs("front_end", "C++"),
        "Rounding in another order of operations may differ by this much in float32.",
    ),
)

UNMEASURED = (
    Unmeasured(
        "000:3",
        "Imperative programs change their state by statements such as print, + and if.",
        "This defines a term.",
    ),
)
