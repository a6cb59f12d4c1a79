"""The forms of the network in `bench_compile`, which are its variants, and its metrics."""

EAGER, INFERENCE = "eager", "eager, inference mode"
SCRIPT, FROZEN = "TorchScript (deprecated)", "TorchScript, frozen (deprecated)"
COMPILE, GRAPH = "torch.compile", "eager, CUDA graph"
EXPORT, AOT = "torch.export", "AOTInductor"
WEIGHTS = "weights alone"  # as a saved form
FIRST_SCRIPT = "first TorchScript call of the process"

# metrics; the speed-ups have an interval: _low, _high
SCRIPT_SPEEDUP = "book_torchscript_over_eager"  # gradients on in both, as the notes time it
COMPILE_SPEEDUP = "torchcompile_speedup"  # over eager without gradients
COMPILE_BUILD_S = "torchcompile_build_s"
FOLDED_SPEEDUP = "folded_program_speedup"  # over the program as text
SAME_OUTPUTS = "forms_equal_eager"  # yes or no

TOLERANCE = 1e-4  # logits: the largest difference that rounding in another order explains
