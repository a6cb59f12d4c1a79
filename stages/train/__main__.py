"""Run the stage: `python -m stages.train`."""

import hashlib
import io
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from lab.core.errors import DistributedError, MachineError, ParamsError, StoppedError
from lab.core.exit_codes import StopRequest, run
from lab.core.files import REPORTS, Metrics, Row, write_atomically, write_metrics, write_rows
from lab.core.params import PARAMS_FILE, load
from lab.core.shared_params import DeviceParams
from lab.data.datasets import CLASSES, DATA, SOURCE_FILE, Split, dataset_name, read_fashion_mnist
from lab.data.images import to_tensors
from lab.machine.allocator import keep_memory
from lab.machine.devices import Devices, missing_compiler, resolve
from lab.nets import lenet, models, resnet
from lab.parallel import replicas
from lab.parallel.launch import check_ranks_agree, launch, own_rank, process_group
from lab.results.stats import summarise as summary
from lab.training import loop, strategies
from lab.training.checkpoints import Checkpoints, run_key
from lab.training.loop import Epoch, Progress, predict, train
from lab.training.strategies import Strategy
from stages.train.params import Params, RunParams

MODELS = Path("models")
CODE = [
    Path(str(module.__file__)) for module in (models, lenet, replicas, resnet, strategies, loop)
]
NUM_WORST = 20

log = logging.getLogger(__name__)


def devices_of(settings: RunParams, params: DeviceParams) -> tuple[Devices, list[torch.device]]:
    """Return all devices of a run, and those of this process.

    Raises:
        DistributedError: another number of processes was started than the run asks for.
    """
    if settings.strategy == "ddp":
        world_size, here = int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_WORLD_SIZE"])
        if world_size != settings.num_gpus:
            raise DistributedError(
                f"{world_size} processes for num_gpus {settings.num_gpus}; start as many"
            )
        devices = resolve(here, params)
        own = [devices.devices[int(os.environ["LOCAL_RANK"])]]
        return replace(devices, devices=devices.devices * (world_size // here)), own
    devices = resolve(settings.num_gpus, params)
    # splits over different GPUs, and not at all over the CPU
    if settings.strategy == "dataparallel":
        different = list(dict.fromkeys(devices.devices))
        kind = "cuda" if devices.kind == "cuda-shared" else devices.kind
        devices = replace(devices, kind=kind, devices=different)
    return devices, devices.devices


def check_machine_can(name: str, settings: RunParams, device: torch.device) -> None:
    """Stop before any work where the run asks for what this machine lacks.

    Raises:
        MachineError: TF32 without a CUDA GPU, or nothing to compile with.
    """
    key = f"{PARAMS_FILE}: train.runs.{name}"
    if settings.precision == "tf32" and device.type != "cuda":
        raise MachineError(f"{key}.precision: tf32 needs a CUDA GPU, found none; take fp32 or bf16")
    if settings.compile != "none" and (missing := missing_compiler()):
        raise MachineError(
            f"{key}.compile: {settings.compile} needs {missing}; install one or take none"
        )


def measure(
    name: str,
    settings: RunParams,
    strategy: Strategy,
    train_set: Split,
    test_set: Split,
    seed: int,
    checkpoints: Checkpoints,
) -> tuple[list[Epoch], Tensor]:
    """Train from the latest checkpoint, with a bar on a terminal and a line per epoch.

    Returns the epochs and the test images' logits (n, 10); the strategy has the weights.

    Raises:
        StoppedError: SIGTERM or Ctrl-C; a checkpoint of the last step is written.
    """
    reached = Progress()
    if content := strategy.broadcast(checkpoints.latest() if strategy.is_first else None):
        state = checkpoints.decode(content)
        strategy.load_state(state)
        reached = Progress.from_state(state)
        log.info(
            "%s: goes on after %d epochs and %d steps",
            name,
            len(reached.epochs),
            len(reached.losses),
        )
    num_images = len(train_set.labels)
    done = len(reached.epochs) * num_images + len(reached.losses) * settings.batch_size
    with (
        StopRequest() as stop,
        tqdm(
            initial=done,
            total=settings.num_epochs * num_images,
            unit="img",
            unit_scale=True,
            desc=name,
            disable=None if strategy.is_first else True,
        ) as bar,
    ):
        results = train(
            strategy,
            to_tensors(train_set),
            to_tensors(test_set),
            settings.batch_size,
            settings.lr,
            settings.num_epochs,
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
                _log_epoch(name, settings, reached.epochs[-1])
        if len(reached.epochs) < settings.num_epochs:
            where = f"epoch {len(reached.epochs) + 1}, after step {len(reached.losses)}"
            raise StoppedError(
                f"{name}: stopped in {where}; the same command goes on there",
                stop.signal_number or 15,
            )
        return reached.epochs, predict(strategy, to_tensors(test_set)[0])


def _log_epoch(name: str, settings: RunParams, epoch: Epoch) -> None:
    with tqdm.external_write_mode():
        log.info(
            "%s epoch %d/%d: train loss %.4f, test accuracy %.2f %%, %.2f s, %.0f img/s",
            name,
            epoch.epoch,
            settings.num_epochs,
            epoch.train_loss,
            100 * epoch.test_accuracy,
            epoch.seconds,
            settings.train_images / epoch.seconds,
        )


def rows_of(epochs: Sequence[Epoch], num_images: int, devices: Devices, dataset: str) -> list[Row]:
    """Return one row per epoch."""
    return [
        {
            "epoch": e.epoch,
            "train_loss": e.train_loss,
            "test_accuracy": e.test_accuracy,
            "seconds": round(e.seconds, 6),
            "images_per_s": round(num_images / e.seconds, 2),
            "resumed": int(e.resumed),
            "device_kind": devices.kind,
            "dataset": dataset,
        }
        for e in epochs
    ]


def summarise(
    settings: RunParams,
    epochs: Sequence[Epoch],
    num_images: int,
    weights: bytes,
    devices: Devices,
    dataset: str,
) -> Metrics:
    """Return the run in few numbers, after what it was; times are medians over the epochs with
    their IQR.

    Epochs that were interrupted do not count in the times, unless there are no others.
    """
    timed = [e.seconds for e in epochs if not e.resumed] or [e.seconds for e in epochs]
    seconds, speed = summary(timed), summary([num_images / s for s in timed])
    return {
        "net": settings.net,
        "strategy": settings.strategy,
        "precision": settings.precision,
        "compile": settings.compile,
        "dataset": dataset,
        "train_images": num_images,
        "batch_size": settings.batch_size,
        "lr": settings.lr,
        "num_epochs": settings.num_epochs,
        "device_kind": devices.kind,
        "num_devices": len(devices.devices),
        "threads_per_device": devices.threads,
        "test_accuracy_percent": round(100 * epochs[-1].test_accuracy, 4),
        "train_loss": round(epochs[-1].train_loss, 6),
        "epoch_s": round(seconds.median, 4),
        "epoch_s_iqr": round(seconds.iqr, 4),
        "images_per_s": round(speed.median, 1),
        "images_per_s_iqr": round(speed.iqr, 1),
        "weights_sha256": hashlib.sha256(weights).hexdigest()[:16],
    }


def confusion_of(logits: Tensor, labels: Tensor) -> list[Row]:
    """Return one row per true class: how many test images of it were given each label."""
    counts = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.int64)
    counts.index_put_((labels, logits.argmax(1)), torch.tensor(1), accumulate=True)
    return [
        {"class": name, **dict(zip(CLASSES, row, strict=True))}
        for name, row in zip(CLASSES, counts.tolist(), strict=True)
    ]


def worst_of(logits: Tensor, labels: Tensor, count: int = NUM_WORST) -> list[Row]:
    """Return the test images whose own class was given the least probability, the worst first."""
    probabilities = logits.double().softmax(1)
    right = probabilities.gather(1, labels[:, None])[:, 0]
    return [
        {
            "image": i,
            "class": CLASSES[labels[i]],
            "taken_for": CLASSES[logits[i].argmax()],
            "probability_percent": round(100 * right[i].item(), 6),
        }
        for i in right.argsort(stable=True)[:count].tolist()
    ]


def to_bytes(weights: Mapping[str, Tensor]) -> bytes:
    """Return a net's state as a torch file of named tensors, the same bytes for the same
    weights.
    """
    buffer = io.BytesIO()
    torch.save({name: w.detach().cpu().contiguous() for name, w in weights.items()}, buffer)
    return buffer.getvalue()


def train_run(name: str, params: Params) -> None:
    """Train a run on what `devices_of` gives it, and write its weights, rows and metrics."""
    keep_memory()
    settings = params.train.runs[name]
    devices, own = devices_of(settings, params.devices)
    check_machine_can(name, settings, own[0])
    models.allow_tf32(settings.precision)
    train_set = read_fashion_mnist("train").first(settings.train_images)
    test_set = read_fashion_mnist("t10k").first(settings.test_images)
    dataset = dataset_name()
    decisive = {
        "run": name,
        "settings": settings.model_dump(),
        "seed": params.seed,
        "torch": torch.__version__,
        "devices": [devices.kind, len(devices.devices), devices.threads],
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }
    checkpoints = Checkpoints(run_key(decisive, [*CODE, DATA / SOURCE_FILE]))
    torch.backends.cudnn.deterministic = True  # the same bits again, and after a resume
    rank = own_rank()
    group = (
        nullcontext() if rank is None else process_group(devices, own[0], params.train.distributed)
    )
    with nullcontext() if rank else checkpoints.lock(), group:
        if rank is not None:
            check_ranks_agree(checkpoints.key)
        init = models.MODELS[settings.net](torch.Generator().manual_seed(params.seed))
        with closing(
            strategies.STRATEGIES[settings.strategy](
                init, own, settings.precision, settings.compile
            )
        ) as strategy:
            if not strategy.is_first:
                log.setLevel(logging.WARNING)
            log.info(
                "%s: %s on %d x %s, %d threads each, %s",
                name,
                dataset,
                len(devices.devices),
                devices.kind,
                devices.threads,
                settings.strategy,
            )
            epochs, logits = measure(
                name, settings, strategy, train_set, test_set, params.seed, checkpoints
            )
            if strategy.is_first:
                weights, labels = (
                    to_bytes(strategy.nets[0].net.state_dict()),
                    torch.from_numpy(test_set.labels),
                )
                folder, num_images = REPORTS / "train" / name, len(train_set.labels)
                write_atomically(MODELS / f"{name}.pt", weights)
                write_rows(folder, rows_of(epochs, num_images, devices, dataset))
                write_rows(folder, confusion_of(logits, labels), "confusion.csv")
                write_rows(folder, worst_of(logits, labels), "worst.csv")
                write_metrics(
                    folder, summarise(settings, epochs, num_images, weights, devices, dataset)
                )
                checkpoints.clear()


def main() -> None:
    """Train the run named on the command line; `ddp` starts this file again, once for each
    device.
    """
    params = load(Params)
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in params.train.runs:
        raise ParamsError(
            f"{PARAMS_FILE}: no run {name!r} in train.runs; it has {', '.join(params.train.runs)}"
        )
    settings = params.train.runs[name]
    if settings.strategy == "ddp" and own_rank() is None:
        here, odd = divmod(settings.num_gpus, params.train.distributed.nnodes)
        if odd:
            raise ParamsError(
                f"{PARAMS_FILE}: train.runs.{name}.num_gpus: expected a multiple of"
                f" train.distributed.nnodes "
                f"({params.train.distributed.nnodes}), got {settings.num_gpus}"
            )
        dataset_name()  # no data is an error to be told before there are processes
        launch(
            "stages.train",
            name,
            here,
            params.train.distributed,
            resolve(here, params.devices).threads,
        )
        return
    try:
        train_run(name, params)
    except RuntimeError as error:  # torch's way to say it, on GPUs and on the CPU
        if "out of memory" in str(error) or "can't allocate memory" in str(error):
            raise MemoryError(str(error).partition(". ")[0]) from None
        raise


if __name__ == "__main__":
    sys.exit(run(main))
