"""Train a run by name: `python -m stages.train RUN`."""

import logging
import os
import sys
from pathlib import Path

from lab.core.errors import DistributedError, ParamsError, instead_of
from lab.core.files import REPORTS
from lab.core.outputs import check_place
from lab.core.params import PARAMS_FILE, load
from lab.core.process import run
from lab.data.datasets import dataset_name
from lab.machine.devices import resolve
from lab.machine.hardware import add_machine
from lab.parallel.local_ranks import call_in_ranks
from lab.parallel.process_group import own_rank
from stages.train.measure.one_run import train_as_rank, train_run
from stages.train.measure.params import Params
from stages.train.measure.results import WEIGHTS

log = logging.getLogger(__name__)


def main() -> None:
    """Train the run on the command line; each rank of `ddp` also runs this function."""
    words = [word for word in sys.argv[1:] if word != "--run"]  # DVC passes --run
    name = words[0] if len(words) == 1 else ""
    params = load(Params, decisive=lambda p: (p.seed, p.devices, p.train.runs.get(name)))
    if name not in params.train.runs:
        known = instead_of(name, params.train.runs)
        raise ParamsError(f"{PARAMS_FILE}: no run {name!r} in train.runs; {known}")
    check_place(Path(WEIGHTS.format(run=name)))  # fail before there is any work to lose
    strategy, is_rank = params.train.runs[name].strategy, own_rank() is not None
    if not is_rank and "RANK" in os.environ:
        log.info("RANK=%s was not set by torchrun and is ignored", os.environ["RANK"])
    if is_rank and strategy != "ddp":
        raise ParamsError(
            f"{PARAMS_FILE}: train.runs.{name}.strategy: expected ddp for torchrun's ranks, got"
            f" {strategy}"
        )
    if strategy == "ddp" and not is_rank:
        launch_ranks(name, params)
    else:
        train_run(name, params)


def launch_ranks(name: str, params: Params) -> None:
    """Start the ranks of a run on this host, and wait for them."""
    dataset_name()  # report missing data before starting processes
    num_gpus = params.train.runs[name].num_gpus
    threads = resolve(num_gpus, params.devices).threads
    try:
        call_in_ranks(num_gpus, threads, params.train.timeout_s, train_as_rank, name, params)
    except DistributedError as error:
        again = "the same command resumes from the last checkpoint"
        raise DistributedError(f"{error}; {again}") from None
    add_machine(REPORTS / "train" / name)  # here, since ranks have their own OMP_NUM_THREADS


if __name__ == "__main__":
    sys.exit(run(main))
