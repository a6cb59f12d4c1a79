"""The names of bench_compile's demos, arms and metrics."""

# the notes' program as text
PROGRAM = "program"
INSTRUCTIONS = "instructions"  # left to execute
RESULT = "result"
TEXT, COMPILED_ONCE, FOLDED = "text", "compiled once", "folded first"
FX_GRAPH = "FX graph"

# the network in each compiled form
CALL = "call"  # x: batch size
FIRST_CALLS = "first_calls"  # x: which call, from 1
BUILD = "build"  # the first call included
DIFFERENCE = "difference"  # of a logit from eager's; x: batch size
EAGER, INFERENCE = "eager", "eager, inference mode"
SCRIPT, FROZEN = "TorchScript (deprecated)", "TorchScript, frozen (deprecated)"
COMPILE, GRAPH = "torch.compile", "torch.compile, CUDA graph"
EXPORT, AOT = "torch.export", "AOTInductor"

# saved, and loaded again in a new process
SAVED_SIZE, SAVED_LOAD = "saved_size", "saved_load"
SAVED_DIFFERENCE = "saved_difference"  # of a logit from eager's
WEIGHTS = "weights alone"

# metrics; the speed-ups have an interval: _low, _high
SCRIPT_SPEEDUP = "book_torchscript_over_eager"  # gradients on in both, as the notes time it
COMPILE_SPEEDUP = "torchcompile_speedup"  # over eager without gradients
COMPILE_BUILD_S = "torchcompile_build_s"
FOLDED_SPEEDUP = "folded_program_speedup"  # over the program as text
SAME_OUTPUTS = "forms_equal_eager"  # yes or no

TOLERANCE = 1e-4  # logits: the largest difference that rounding in another order explains
