"""Train the run that is named: `python -m stages.train RUN`."""

import logging
import os
import sys
from pathlib import Path

from lab.core.errors import DistributedError, ParamsError, StoppedError, instead_of
from lab.core.files import REPORTS
from lab.core.outputs import objection, refuse
from lab.core.params import PARAMS_FILE, load
from lab.core.process import run
from lab.data.datasets import dataset_name
from lab.machine.devices import resolve
from lab.machine.hardware import add_machine
from lab.parallel.launch import launch, own_rank
from lab.parallel.local_ranks import call_in_ranks
from stages.train.measure.names import WEIGHTS
from stages.train.measure.one_run import train_as_rank, train_run
from stages.train.measure.params import Params

log = logging.getLogger(__name__)


def main() -> None:
    """Train the run on the command line; the processes of `ddp` come here again, one per device."""
    words = [word for word in sys.argv[1:] if word != "--run"]  # so DVC says it
    name = words[0] if len(words) == 1 else ""
    params = load(Params, decisive=lambda p: (p.seed, p.devices, p.train.runs.get(name)))
    if name not in params.train.runs:
        known = instead_of(name, params.train.runs)
        raise ParamsError(f"{PARAMS_FILE}: no run {name!r} in train.runs; {known}")
    refuse([objection(Path(WEIGHTS.format(run=name)))])  # before there is anything to lose
    if own_rank() is None and "RANK" in os.environ:
        log.info("RANK=%s is not torchrun's and is ignored", os.environ["RANK"])
    if params.train.runs[name].strategy == "ddp" and own_rank() is None:
        launch_ranks(name, params)
    else:
        train_run(name, params)


def launch_ranks(name: str, params: Params) -> None:
    """Start this host's share of a run's processes, and wait for them."""
    distributed = params.train.distributed
    here, odd = divmod(params.train.runs[name].num_gpus, distributed.nnodes)
    if odd:
        raise ParamsError(
            f"{PARAMS_FILE}: train.runs.{name}.num_gpus: expected a multiple of"
            f" train.distributed.nnodes ({distributed.nnodes}),"
            f" got {params.train.runs[name].num_gpus}"
        )
    dataset_name()  # missing data are said before there are processes
    threads = resolve(here, params.devices).threads
    if distributed.nnodes == 1:
        try:
            call_in_ranks(here, threads, distributed.timeout_s, train_as_rank, name, params)
            add_machine(REPORTS / "train" / name)  # a rank sees its own OMP_NUM_THREADS
        except (DistributedError, StoppedError) as error:
            error.args = (f"{error}; the same command resumes from the last checkpoint",)
            raise
    else:
        launch("stages.train", name, here, distributed, threads)


if __name__ == "__main__":
    sys.exit(run(main))
