"""What the experiments of `bench_compile` and their variants are called in its rows."""

EAGER, INFERENCE = "eager", "eager, inference mode"
SCRIPT, FROZEN = "TorchScript", "frozen TorchScript"
COMPILE, GRAPH = "torch.compile", "CUDA graph"
EXPORT, AOT = "torch.export", "AOTInductor"
WEIGHTS = "weights only"  # as a saved form
BUILT_FORMS = (EAGER, INFERENCE, SCRIPT, FROZEN, COMPILE, GRAPH, AOT)
COMPILED_FORMS = (SCRIPT, FROZEN, COMPILE, GRAPH, AOT, EXPORT, WEIGHTS)  # as the page has them
SAVED_FORMS = (WEIGHTS, SCRIPT, EXPORT, AOT)
FIRST_SCRIPT = "first TorchScript call of the process"
NETS = ("MLP", "LeNet", "16 layers")
