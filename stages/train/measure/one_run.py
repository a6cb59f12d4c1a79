"""One run from its latest checkpoint to its results, in one process or in each rank."""

import functools
import logging
import math
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import torch
from tqdm import tqdm

from lab.core.files import Row
from lab.core.gpu_errors import gpu_errors
from lab.core.imports import closure
from lab.data.datasets import DATA, SOURCE_FILE, dataset_name, read_fashion_mnist
from lab.data.images import LabelledImages, to_tensors
from lab.machine.devices import Devices, precision_on
from lab.nets.models import MODELS
from lab.parallel.process_group import check_ranks_agree, own_rank, process_group
from lab.results.chance import NUM_CLASSES, is_chance
from lab.timing.conditions import LoadMonitor, speed_metrics
from lab.training.checkpoints import Checkpoints, run_key
from lab.training.loop import Epoch, Progress, train
from lab.training.model import Model
from lab.training.processes import Alone, Group
from lab.training.run_params import RunParams
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import Trainer, prepare_process
from stages.train.measure import results
from stages.train.measure.params import Params
from stages.train.measure.placement import check_machine_can, check_step_fits, devices_of

TOO_HIGH = 10  # times the train loss of guessing
SMALL_WEIGHTS = (
    "The notes draw weights with a standard deviation of 0.01, so signals and gradients almost"
    " vanish in the first epoch; the page of the stage together has what He initialization changes"
)

log = logging.getLogger(__name__)


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turn torch's error for exhausted CPU memory into a MemoryError."""
    try:
        yield
    except RuntimeError as error:
        if "can't allocate memory" in str(error):
            raise MemoryError(str(error).partition(". ")[0]) from None
        raise


@memory_errors()
def train_run(name: str, params: Params) -> None:
    """Train a run, seed by seed, and write its results; with `ddp`, each rank calls this."""
    recipe = params.train.runs[name]
    devices, own = devices_of(recipe, params.devices)
    precision = precision_on(own[0], recipe.precision)
    prepare_process(precision)
    check_machine_can(name, recipe, own[0])
    check_step_fits(name, recipe, precision, own)
    train_set = read_fashion_mnist("train").first(recipe.train_images)
    test_set = read_fashion_mnist("t10k").first(recipe.test_images)
    recipe = recipe.but(
        precision=precision, train_images=len(train_set.labels), test_images=len(test_set.labels)
    )
    train_tensors, test_tensors = to_tensors(train_set), to_tensors(test_set)
    dataset = dataset_name()
    of_seeds = {
        seed: Checkpoints(checkpoint_key(name, recipe, seed, devices))
        for seed in range(params.seed, params.seed + recipe.seeds)
    }
    of_first = of_seeds[params.seed]
    rank = own_rank()
    timeout_s = params.train.timeout_s
    group = nullcontext() if rank is None else process_group(devices, own[0], timeout_s)
    watch = None if rank else LoadMonitor()  # one process is enough to see the machine's speed
    failures = gpu_errors(", ".join(dict.fromkeys(map(str, own))))
    rows: list[Row] = []
    weights = b""  # the first seed's
    with nullcontext() if rank else of_first.lock(), failures, group:
        if rank is not None:
            check_ranks_agree(of_first.key)
        processes = Alone() if rank is None else Group()
        log.setLevel(logging.WARNING if rank else logging.INFO)
        log.info(
            "%s: %s on %d x %s, %d threads each, %s",
            name,
            dataset,
            len(devices.devices),
            devices.kind,
            devices.threads,
            recipe.strategy,
        )
        for seed, checkpoints in of_seeds.items():
            label = name if len(of_seeds) == 1 else f"{name} seed {seed}"
            net = MODELS[recipe.net](torch.Generator().manual_seed(seed))
            model, step = model_and_step(net, own, recipe, processes)
            with closing(model):
                progress = resumed(label, model, checkpoints)
                trainer = Trainer(model, step, train_tensors)
                of_seed = results.rows_of(progress.epochs, seed, devices, dataset)
                for epochs in train_with_checkpoints(
                    label, trainer, test_tensors, seed, progress, checkpoints
                ):
                    of_seed = results.rows_of(epochs, seed, devices, dataset)
                    if watch:
                        results.write_epochs(name, [*rows, *of_seed])
                rows += of_seed
                if watch and not weights:
                    weights = results.to_bytes(model.nets[0].net.state_dict())
        if watch:
            conditions = results.conditions_of(recipe, devices, dataset, weights)
            results.write(name, weights, rows, {**conditions, **speed_metrics(watch)})
        processes.largest(0)  # wait for all results, in case hosts share the folder
        if keeps_checkpoints():
            for checkpoints in of_seeds.values():
                checkpoints.clear()


def train_as_rank(name: str, params: Params) -> None:
    """Call `train_run` in its own process, with the log of a command."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    train_run(name, params)


def checkpoint_key(name: str, recipe: RunParams, seed: int, devices: Devices) -> str:
    """Return the name of a run's checkpoints: a hash of all that affects its result.

    With shards, the numbers of devices, threads and processes do not.
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
    return run_key(decisive, [*code(), DATA / SOURCE_FILE])


@functools.cache
def code() -> list[Path]:
    """Return the files that affect a result: changing one voids checkpoints."""
    return closure(Path(__file__))


def keeps_checkpoints() -> bool:
    """Return whether this process manages its host's checkpoints; one process per host does.

    The first rank saves checkpoints, and may be on a different host in each launch.
    """
    return own_rank() is None or os.environ["LOCAL_RANK"] == "0"


def resumed(name: str, model: Model, checkpoints: Checkpoints) -> Progress:
    """Load the latest checkpoint of the run's processes into the model; return its progress."""
    own = checkpoints.latest() if keeps_checkpoints() else None
    own_place = Progress.from_state(checkpoints.decode(own)).place if own else 0
    content = model.processes.latest_checkpoint(own, own_place)
    if not content:
        return Progress()
    state = checkpoints.decode(content)
    model.load_state(state)
    progress = Progress.from_state(state)
    log.info(
        "%s: resumes after %d epochs and %d steps", name, len(progress.epochs), len(progress.losses)
    )
    return progress


def train_with_checkpoints(
    name: str,
    trainer: Trainer,
    test_set: LabelledImages,
    seed: int,
    progress: Progress,
    checkpoints: Checkpoints,
) -> Iterator[list[Epoch]]:
    """Train to the end, with a bar on a terminal and a line per epoch.

    Yields:
        The epochs so far, after each epoch.
    """
    model, num_images = trainer.model, trainer.num_images
    is_first, recipe = model.processes.rank == 0, model.recipe
    done = len(progress.epochs) * num_images + len(progress.losses) * recipe.batch_size
    with tqdm(
        initial=done,
        total=recipe.num_epochs * num_images,
        unit="img",
        unit_scale=True,
        desc=name,
        disable=None if is_first else True,
    ) as bar:
        for reached in train(trainer, test_set, seed, progress, on_step=bar.update):
            state = {**model.state(), **reached.state()}
            if is_first:
                checkpoints.save(len(reached.epochs), len(reached.losses), state)
            if not len(reached.losses):
                _log_epoch(name, recipe, reached.epochs[-1], len(test_set[1]))
                yield reached.epochs


def _log_epoch(name: str, recipe: RunParams, epoch: Epoch, test_images: int) -> None:
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
        if epoch.train_loss > TOO_HIGH * math.log(NUM_CLASSES):
            log.warning(
                "%s: a guess has a train loss of %.1f; take a smaller lr than %g",
                *(name, math.log(NUM_CLASSES), recipe.lr),
            )
        elif epoch.epoch == 1 and is_chance(epoch.test_accuracy, test_images):
            log.info(
                "%s still guesses: one in %d images is right by chance%s",
                name,
                NUM_CLASSES,
                f". {SMALL_WEIGHTS}" if recipe.net == "lenet" else "",
            )
