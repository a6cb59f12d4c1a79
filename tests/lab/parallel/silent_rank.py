"""Two ranks, of which one falls silent, for tests/lab/parallel/test_allreduce_times.py.

`python -m tests.lab.parallel.silent_rank FILE`: the silent one waits for FILE, which the other one
writes when it has given up.
"""

import sys
import time
from functools import partial
from pathlib import Path

import torch.distributed as dist

from lab.core.shared_params import BenchParams
from lab.parallel import allreduce_times
from lab.parallel.allreduce_times import Arm
from lab.parallel.cost_model import RING
from tests.lab.parallel.forked_ranks import CPU, run_ranks

TIMEOUT_S = 2


def run_rank(file: Path) -> None:
    if dist.get_rank():
        dist.new_group([0, 1])
        while not file.exists():
            time.sleep(0.05)
        return
    in_time = allreduce_times.DISTRIBUTED.model_copy(update={"timeout_s": TIMEOUT_S})
    allreduce_times.DISTRIBUTED = in_time
    bench = BenchParams(starts=1, rounds=1, min_sample_ms=1)
    try:
        allreduce_times._take_part([Arm(RING, 2, (1,))], bench, CPU, 0, 0)
    finally:
        file.touch()


if __name__ == "__main__":
    sys.exit(run_ranks(2, partial(run_rank, Path(sys.argv[1]))))
