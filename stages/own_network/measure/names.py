"""The names of own_network's techniques, experiments and parts of a step in its rows."""

import re

BASELINE, ALL = "your file as it is", "all that help"
CHANNELS_LAST = "channels-last"
BF16 = "bfloat16"
TF32 = "TensorFloat-32"
COMPILE = "torch.compile"
GRAPH = "CUDA graph"
FUSED = "fused optimizer"
MEMORY = "freed memory reused"
ONE_THREAD = "one thread"
LARGER_BATCH = "larger batch"
WORKERS = "loader workers"
PINNED = "pinned memory"
IN_MEMORY = "data in memory"
TWO_DEVICES = "two devices"
SAME_STEPS = (
    *(CHANNELS_LAST, BF16, TF32, COMPILE, GRAPH, FUSED, MEMORY, ONE_THREAD),
    *(WORKERS, PINNED, IN_MEMORY, TWO_DEVICES),
)
TECHNIQUES = (*SAME_STEPS, LARGER_BATCH)  # the last one trains by fewer steps: another training
INSTEAD = ((COMPILE, GRAPH), (WORKERS, IN_MEMORY), (PINNED, IN_MEMORY))  # of each the faster one

# experiments; variants are techniques, samples fresh processes
ALONE = "one technique"  # ms for the baseline's number of examples; x: examples per step
OPPONENT = "alternating baseline"  # ms of the baseline in between; variant: the technique's
TOGETHER = "together"  # ms of all that help and of the baseline, alternating in other processes
COMBINED = "combined"  # 1 for each technique that took part in that
LOSS = "loss"  # x: the step
FIRST_STEP = "first step"  # s
PEAK_MEMORY = "peak memory"  # MiB
PARTS = "parts of a step"  # ms, of the baseline
INPUT, FORWARD, BACKWARD, UPDATE = "input", "forward", "backward", "update"
STEP_PARTS = (INPUT, FORWARD, BACKWARD, UPDATE)
OF_FEW = "a step of two examples"  # ms, without its input: calls, and work for each parameter
COUNTED = "counted"  # in a step without its input
FLOP, BYTES = "arithmetic", "reads and writes"  # GFLOP and GB
RATE = "rate"  # what the machine does of both: GFLOP/s and GB/s

# conditions
FILE, PARAMETERS, BATCH_SIZE = "network_file", "parameters", "batch_size"


def identifier(technique: str) -> str:
    """Return a technique's name in code: of its function and its findings."""
    return re.sub(r"\W+", "_", technique.lower())
