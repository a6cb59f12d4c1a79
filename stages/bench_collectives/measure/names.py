"""Names of the experiments, variants and metrics of `bench_collectives`.

The algorithms, which most variants are named after, are in lab.parallel.cost_model.
"""

import re

# experiments
TENSORS = "tensors"  # by net: how many its gradients are; x is their bytes
EXACT, SENT, MESSAGES = "exact", "sent", "messages"  # of the largest tensor, see `of_ranks`
NCCL, BETWEEN_GPUS = "nccl", "all-reduce between GPUs"  # what is skipped without GPUs

# metrics
LINK, SHARED, OWN = "link", "shared", "own"
LATENCY, BANDWIDTH = "latency_us", "bandwidth_gb_per_s"
UNSEEN_ERROR = "unseen_error_percent"


def of_one_message(n: int, shared_cores: int = 0) -> str:
    """Single messages among n ranks, and the cores they share if these are fewer."""
    return f"{n} ranks" + (f" sharing {shared_cores} core(s)" if shared_cores else "")


def ranks_and_cores(experiment: str) -> tuple[int, int] | None:
    """The ranks and shared cores (or 0) of single messages; None for another experiment."""
    match = re.fullmatch(r"(\d+) ranks(?: sharing (\d+) core\(s\))?", experiment)
    return (int(match[1]), int(match[2] or 0)) if match else None


def of_ranks(what: str, n: int) -> str:
    """The experiment of a net's gradients, or of a fact (EXACT, SENT, MESSAGES), among n ranks."""
    return f"{what}, {n} ranks"


def bucket_speedup(net: str) -> str:
    """The metric of one bucket over tensor by tensor, by the notes' star."""
    return f"{net}_bucket_speedup"
