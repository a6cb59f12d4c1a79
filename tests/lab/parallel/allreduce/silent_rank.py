"""Two ranks, of which one falls silent, for tests/lab/parallel/allreduce/test_times.py.

`python -m tests.lab.parallel.allreduce.silent_rank FILE`: the silent one waits for FILE, which the
other one writes when it has given up.
"""

import sys
import time
from functools import partial
from pathlib import Path

import torch.distributed as dist

from lab.core.shared_params import BenchParams
from lab.parallel import local_ranks
from lab.parallel.allreduce import times
from lab.parallel.allreduce.times import Arm
from lab.parallel.cost_model import RING
from tests.lab.parallel.forked_ranks import CPU, run_ranks

TIMEOUT_S = 2


def run_rank(file: Path) -> None:
    if dist.get_rank():
        dist.new_group([0, 1])
        while not file.exists():
            time.sleep(0.05)
        return
    in_time = local_ranks.DISTRIBUTED.model_copy(update={"timeout_s": TIMEOUT_S})
    local_ranks.DISTRIBUTED = in_time
    bench = BenchParams(starts=1, rounds=1, min_sample_ms=1)
    try:
        times._take_part(CPU, [Arm(RING, 2, (1,))], bench, 0)
    finally:
        file.touch()


if __name__ == "__main__":
    sys.exit(run_ranks(2, partial(run_rank, Path(sys.argv[1]))))
