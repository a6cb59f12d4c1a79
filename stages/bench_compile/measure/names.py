"""The names of bench_compile's experiments, variants and metrics."""

# the notes' program
PROGRAM = "program"
INSTRUCTIONS = "instructions"  # left to execute
PRINTED = "printed"
TEXT, COMPILED_ONCE, FOLDED = "text", "compiled once", "folded first"

# 1000 calls as the notes time them
THOUSAND_CALLS = "thousand_calls"
FIRST_IN_PROCESS = "first TorchScript call of the process"

# the network in each compiled form
CALL = "call"  # x: batch size
FIRST_CALLS = "first_calls"  # x: which call, from 1
BUILD = "build"  # the first call included
DIFFERENCE = "difference"  # of a logit from eager's; x: batch size
EAGER, INFERENCE = "eager", "eager, inference mode"
SCRIPT, FROZEN = "TorchScript (deprecated)", "TorchScript, frozen (deprecated)"
COMPILE, GRAPH = "torch.compile", "eager, CUDA graph"
EXPORT, AOT = "torch.export", "AOTInductor"

# what Python and the back end do in a call
BACK_END = "back_end"  # its share of the time in percent; x: batch size
ENQUEUE = "enqueue"  # until a call returns that only queues work; x: batch size
THREADS = "threads"  # per call; x: Python threads that call

# other networks, each at several batch sizes
CASES = "cases"  # x: batch size

# saved, and loaded again in a new process
SAVED_SIZE, SAVED_LOAD = "saved_size", "saved_load"
SAVED_DIFFERENCE = "saved_difference"  # of a logit from eager's
FRONT_END = "front_end"  # the same, run by a program in another language
CPP = "C++"
WEIGHTS = "weights alone"

# metrics; the speed-ups have an interval: _low, _high
SCRIPT_SPEEDUP = "book_torchscript_over_eager"  # gradients on in both, as the notes time it
COMPILE_SPEEDUP = "torchcompile_speedup"  # over eager without gradients
COMPILE_BUILD_S = "torchcompile_build_s"
FOLDED_SPEEDUP = "folded_program_speedup"  # over the program as text
SAME_OUTPUTS = "forms_equal_eager"  # yes or no

TOLERANCE = 1e-4  # logits: the largest difference that rounding in another order explains


def of_case(network: str, form: str) -> str:
    """The variant of a network in a form, among the cases; `*` stands for any network."""
    return f"{network}: {form}"
