"""What the notes claim about what `bench_async` measures, and the rules that decide."""

from lab.claims.needs import ON_GPU
from lab.claims.rules import FASTER, NEEDED, Rule, at_least, at_most
from lab.claims.verdicts import Claim, Kind, Unmeasured

RETURNS_BEFORE = 0.9  # of the time until the result is there: less is before its work is done


CLAIMS = (
    Claim(
        "B1",
        "13.2",
        Kind.SAID,
        "000:159",
        "By the benchmark's output torch's matrix multiplications are several orders of"
        " magnitude faster than numpy's.",
        "numpy over torch as the notes time it, without waiting.",
        Rule("book_claims", at_least(100)),
        "“Several orders”: two at least.",
        ON_GPU,
    ),
    Claim(
        "B1c",
        "13.2",
        Kind.SAID,
        "000:159",
        "The gap between numpy and torch also has causes other than the GPU that computes.",
        "The notes' gap relative to that of the same matrix multiplication in float32, its"
        " numbers drawn beforehand and its result waited for.",
        Rule("other_causes", at_least(NEEDED)),
        "Other causes: they widen the gap by a tenth or more.",
        ON_GPU,
    ),
    Claim(
        "B2",
        "13.2",
        Kind.SAID,
        "000:159",
        "A GPU's operations are asynchronous by default: forcing torch to finish shows it.",
        "Ten matrix multiplications, synchronized relative to not synchronized.",
        Rule("waited_over_not_waited", FASTER),
        "“Shows”: longer by more than 2 %.",
        ON_GPU,
    ),
    Claim(
        "B3",
        "13.2",
        Kind.SAID,
        "000:159",
        "The back end computes while the front end has given control back to Python.",
        "Time until a matrix multiplication's call returns relative to the time until its result"
        " is there, at the largest size.",
        Rule("return_over_finish", at_most(RETURNS_BEFORE)),
        "“While”: at least a tenth of the time earlier.",
        ON_GPU,
    ),
    Claim(
        "B3b",
        "13.2",
        Kind.SAID,
        "000:173",
        "A program's execution mainly happens in the back end, which is written in C++.",
        "The back end's share of the time of the notes' programs of this section, random matrix"
        " multiplications and x · y + 2 of two numbers, as torch's profiler sees it: the smaller"
        " one.",
        Rule("back_end_percent", at_least(50)),
        "“Mainly”: half of the time or more.",
    ),
    Claim(
        "B4",
        "13.2",
        Kind.SAID,
        "000:173",
        "The back end keeps to the dependencies between the steps of a computation.",
        "Largest distance of x · y + 2 from 3, computed right after x and y were asked to become"
        " ones; on a stream that waits for no event it must be wrong.",
        Rule("out_of_order", at_most(0)),
        "Small integers are exact in float32.",
        ON_GPU,
    ),
)

UNMEASURED = (
    Unmeasured(
        "000:134",
        "PyTorch's tensors are defined on a GPU.",
        "It holds where there is one: the notes' helper takes the processor without a word where"
        " there is none.",
    ),
    Unmeasured(
        "000:173",
        "The back end's threads keep collecting and executing queued operations.",
        "Nothing that torch shows tells which thread takes an operation from a queue.",
    ),
)
