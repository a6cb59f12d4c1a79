"""One run from its latest checkpoint to its results, in one process or in each of several."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import torch
from tqdm import tqdm

from lab.core.errors import StoppedError
from lab.core.gpu_errors import gpu_errors
from lab.core.process import StopRequest
from lab.data import augment, images, order
from lab.data.datasets import DATA, SOURCE_FILE, Split, dataset_name, read_fashion_mnist
from lab.data.images import to_tensors
from lab.machine.devices import Devices, precision_on
from lab.nets import convnet, lenet, models, resnet
from lab.optim import schedules, update_rules
from lab.parallel import flat_bucket, replicas
from lab.parallel.allreduce import collectives
from lab.parallel.launch import check_ranks_agree, own_rank, process_group
from lab.timing.conditions import LoadMonitor, speed_metrics
from lab.training import accuracy, loop, shards, steps, update_steps
from lab.training.checkpoints import Checkpoints, run_key
from lab.training.loop import Epoch, Progress, train
from lab.training.run_params import RunParams
from lab.training.steps import Stepper, prepare_process
from lab.training.strategies import base, dataparallel, graph, processes, sharded
from lab.training.strategies import replicas as by_hand
from lab.training.strategies.base import Strategy
from lab.training.strategies.by_name import strategy_of
from stages.train.measure import results
from stages.train.measure.params import Params
from stages.train.measure.placement import check_machine_can, check_step_fits, devices_of

# what the result depends on besides params, data and torch: a checkpoint of other code is none
CODE = [
    Path(str(module.__file__))
    for module in (
        *(images, order, augment, schedules, update_rules, models, lenet, resnet, convnet),
        *(replicas, flat_bucket, shards, collectives, update_steps, steps, loop, accuracy),
        *(base, by_hand, graph, dataparallel, processes, sharded),
    )
]

log = logging.getLogger(__name__)


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turn torch's way to say that the CPU's memory is out into Python's."""
    try:
        yield
    except RuntimeError as error:
        if "can't allocate memory" in str(error):
            raise MemoryError(str(error).partition(". ")[0]) from None
        raise


@memory_errors()
def train_run(name: str, params: Params) -> None:
    """Train a run and write its results; of `ddp` each rank does."""
    recipe = params.train.runs[name]
    devices, own = devices_of(recipe, params.devices)
    precision = precision_on(own[0], recipe.precision)
    prepare_process(precision)
    check_machine_can(name, recipe, own[0])
    check_step_fits(name, recipe, precision, own)
    train_set = read_fashion_mnist("train").first(recipe.train_images)
    test_set = read_fashion_mnist("t10k").first(recipe.test_images)
    recipe = recipe.but(precision=precision, train_images=len(train_set.labels))
    dataset = dataset_name()
    checkpoints = Checkpoints(checkpoint_key(name, recipe, params.seed, devices))
    rank = own_rank()
    distributed = params.train.distributed
    group = nullcontext() if rank is None else process_group(devices, own[0], distributed)
    watch = None if rank else LoadMonitor()  # one process alone sees how fast the machine is
    failures = gpu_errors(", ".join(dict.fromkeys(map(str, own))))
    with nullcontext() if rank else checkpoints.lock(), failures, group:
        if rank is not None:
            check_ranks_agree(checkpoints.key)
        net = models.MODELS[recipe.net](torch.Generator().manual_seed(params.seed))
        with closing(strategy_of(net, own, recipe)) as strategy:
            log.setLevel(logging.INFO if strategy.is_first else logging.WARNING)
            log.info(
                "%s: %s on %d x %s, %d threads each, %s",
                name,
                dataset,
                len(devices.devices),
                devices.kind,
                devices.threads,
                recipe.strategy,
            )
            epochs = train_with_checkpoints(
                name, strategy, train_set, test_set, params.seed, checkpoints
            )
            if watch:
                weights = results.to_bytes(strategy.nets[0].net.state_dict())
                rows = results.rows_of(epochs, devices, dataset)
                conditions = results.conditions_of(recipe, devices, dataset, weights)
                results.write(name, weights, rows, {**conditions, **speed_metrics(watch)})
            strategy.any(False)  # all results are written, also where hosts share the folder
            if keeps_checkpoints():
                checkpoints.clear()


def train_as_rank(name: str, params: Params) -> None:
    """`train_run` in a process of its own, which says as much as a command does."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    train_run(name, params)


def checkpoint_key(name: str, recipe: RunParams, seed: int, devices: Devices) -> str:
    """The name of a run's checkpoints: a hash of all that decides its result.

    With shards that is no number of devices, threads or processes.
    """
    divided = recipe.shards != "none"
    decisive = {
        "run": name,
        "recipe": recipe.model_dump(exclude={"num_gpus", "strategy"} if divided else None),
        "seed": seed,
        "torch": torch.__version__,
        "devices": devices.devices[0].type
        if divided
        else [devices.kind, len(devices.devices), devices.threads],
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }
    return run_key(decisive, [*CODE, DATA / SOURCE_FILE])


def keeps_checkpoints() -> bool:
    """Whether this process looks after its host's checkpoints: one for each host does.

    Which host has the first rank, which saves them, may differ each time that several meet.
    """
    return own_rank() is None or os.environ["LOCAL_RANK"] == "0"


def train_with_checkpoints(
    name: str,
    strategy: Strategy,
    train_set: Split,
    test_set: Split,
    seed: int,
    checkpoints: Checkpoints,
) -> list[Epoch]:
    """Train from the latest checkpoint, with a bar on a terminal and a line per epoch.

    Returns the epochs; the strategy has the weights.

    Raises:
        StoppedError: SIGTERM or Ctrl-C; a checkpoint of the last step is written.
    """
    recipe, reached = strategy.recipe, Progress()
    own = checkpoints.latest() if keeps_checkpoints() else None
    own_place = Progress.from_state(checkpoints.decode(own)).place if own else 0
    if content := strategy.furthest(own, own_place):
        state = checkpoints.decode(content)
        strategy.load_state(state)
        reached = Progress.from_state(state)
        log.info(
            "%s: resumes after %d epochs and %d steps",
            name,
            len(reached.epochs),
            len(reached.losses),
        )
    num_images = len(train_set.labels)
    done = len(reached.epochs) * num_images + len(reached.losses) * recipe.batch_size
    with (
        StopRequest() as stop,
        tqdm(
            initial=done,
            total=recipe.num_epochs * num_images,
            unit="img",
            unit_scale=True,
            desc=name,
            disable=None if strategy.is_first else True,
        ) as bar,
    ):
        results = train(
            Stepper(strategy, to_tensors(train_set)),
            to_tensors(test_set),
            seed,
            reached,
            on_step=bar.update,
            stopping=lambda: stop.signal_number > 0,
        )
        for reached in results:
            state = {**strategy.state(), **reached.state()}
            if strategy.is_first:
                checkpoints.save(len(reached.epochs), len(reached.losses), state)
            if not len(reached.losses):
                _log_epoch(name, recipe, reached.epochs[-1])
        if len(reached.epochs) < recipe.num_epochs:
            where = f"epoch {len(reached.epochs) + 1}, after step {len(reached.losses)}"
            raise StoppedError(
                f"{name}: stopped in {where}; the same command resumes there",
                stop.signal_number or 15,
            )
        return reached.epochs


def _log_epoch(name: str, recipe: RunParams, epoch: Epoch) -> None:
    with tqdm.external_write_mode():
        log.info(
            "%s epoch %d/%d: train loss %.4f, test accuracy %.2f %%, %.2f s, %.0f img/s",
            name,
            epoch.epoch,
            recipe.num_epochs,
            epoch.train_loss,
            100 * epoch.test_accuracy,
            epoch.seconds,
            recipe.train_images / epoch.seconds,
        )
