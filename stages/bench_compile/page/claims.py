"""What the notes claim about what `bench_compile` measures, and the rules that decide."""

from lab.claims.needs import ON_GPU
from lab.claims.rules import FASTER, Rule, at_least, at_most
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured
from stages.bench_compile.measure.names import TOLERANCE

SERVER_GPUS = 8  # of the server that the notes name
HALF_A_CORE = 1.5  # x as many calls: a second thread adds half a core's or more


CLAIMS = (
    Claim(
        "A3",
        "13.1",
        Kind.SAID,
        "000:49",
        "At batch 1 one thread of Python can hardly keep the eight GPUs of a fast server busy.",
        "GPUs that one thread can keep busy at batch 1: the GPU's time of an eager call, replayed"
        " as a CUDA graph, over the time until that call returns to Python.",
        Rule("busy_gpus", at_most(SERVER_GPUS)),
        "Fewer than the server's eight.",
        ON_GPU,
    ),
    Claim(
        "A3d",
        "13.1",
        Kind.ASKED,
        "000:49",
        "Two Python threads call the eager network side by side.",
        "Calls of batch 1 that two Python threads make of the eager network over those of one, on"
        " this machine's device.",
        Rule("eager_by_two_threads", at_least(HALF_A_CORE)),
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
        Rule("torchscript_by_two_threads", at_least(HALF_A_CORE)),
        "“Side by side”: a second thread adds half of what a second core could, or more.",
    ),
    Claim(
        "A4",
        "13.1",
        Kind.SAID,
        "000:70",
        "Compiling leaves the network's result unchanged.",
        "Largest difference of any logit from eager's, over all forms and batch sizes.",
        Rule("difference", at_most(TOLERANCE)),
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
        Rule("torchscript_at_batch_1", FASTER),
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
        Rule("thousand_calls_speedup", FASTER),
        "“Shows”: the whole interval over 1.02.",
    ),
    Claim(
        "A6d",
        "13.1",
        Kind.ASKED,
        "000:79",
        "torch.compile, today's compiler, makes the notes' network faster at batch 1.",
        "Time in eager mode without gradients relative to torch.compile, at batch 1.",
        Rule("torchcompile_at_batch_1", FASTER),
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
        Rule("with_first_call_speedup", FASTER),
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
        Rule("usual_speedup", FASTER),
        "“Usually”: in most of the cases, so in the middle one; faster: by over 2 %.",
    ),
    Claim(
        "A7d",
        "13.1",
        Kind.SAID,
        "000:113 000:173",
        "The saved network can be used from other languages than Python, such as C++.",
        "Largest difference of a logit that a C++ program computes with the file from eager's.",
        Rule("cpp_difference", at_most(TOLERANCE)),
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
