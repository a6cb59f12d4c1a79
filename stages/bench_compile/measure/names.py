"""The names of `bench_compile`'s variants in its rows."""

EAGER, INFERENCE = "eager", "eager, inference mode"
SCRIPT, FROZEN = "TorchScript", "frozen TorchScript"
COMPILE, GRAPH = "torch.compile", "CUDA graph"
EXPORT, AOT = "torch.export", "AOTInductor"
WEIGHTS = "weights only"  # as a saved form
BUILT_FORMS = (EAGER, INFERENCE, SCRIPT, FROZEN, COMPILE, GRAPH, AOT)
COMPILED_FORMS = (SCRIPT, FROZEN, COMPILE, GRAPH, AOT, EXPORT, WEIGHTS)  # in the page's order
SAVED_FORMS = (WEIGHTS, SCRIPT, EXPORT, AOT)
FIRST_SCRIPT = "first TorchScript call of the process"
NETS = ("MLP", "LeNet", "16 layers")
