"""PyTorch Lightning as a variant: the notes' net, loss, learning rate and loader, all else off.

Lightning is an optional package: `pip install -e '.[peers]'`.
"""

import warnings
from multiprocessing.connection import Connection
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.data import loaders  # imports torchvision, which Lightning could not import itself
from lab.training.notes_loop import EpochClock, to_contiguous
from stages.bench_training.measure.variants import TrainingVariant

import lightning  # isort: skip


class Net(lightning.LightningModule):
    """The variant's net, trained with plain SGD."""

    def __init__(self, variant: TrainingVariant) -> None:
        super().__init__()
        self.net, self.lr = to_contiguous(variant.make_net()), variant.lr

    def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
        X, y = batch
        return F.cross_entropy(self.net(X), y)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), self.lr)


class Turns(lightning.Callback):
    """A callback that makes each epoch a turn: it waits for a request, then sends seconds per step.

    Lightning starts its first loader before it calls back, so the first turn does not include that.
    """

    def __init__(self, variant: TrainingVariant, link: Connection, num_images: int) -> None:
        self._variant, self._link, self._num_images = variant, link, num_images

    def on_train_epoch_start(self, *_: Any) -> None:
        """Wait for a request; all turns have the variant's number of steps."""
        self._link.recv()
        variant = self._variant
        self._clock = EpochClock.of(
            variant.devices(),
            self._num_images,
            variant.batch_size,
            variant.steps,
            variant.num_workers,
        )

    def on_train_batch_end(self, _trainer: Any, _net: Any, _out: Any, _batch: Any, i: int) -> None:
        self._clock.step_done(i + 1)

    def on_train_epoch_end(self, *_: Any) -> None:
        self._clock.step_done(self._clock.steps)
        self._link.send(self._clock.seconds_per_step())


def serve_lightning(variant: TrainingVariant, link: Connection) -> None:
    """Train until the process is ended."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(variant.threads)
    images = loaders.book_images()
    trainer = lightning.Trainer(
        accelerator="gpu" if variant.device == "cuda" else "cpu",
        devices=1,
        precision="bf16-mixed" if variant.precision == "bf16" else "32-true",
        max_epochs=-1,
        limit_train_batches=variant.steps,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[Turns(variant, link, len(images))],  # type: ignore[arg-type]
    )
    trainer.fit(Net(variant), loaders.loader(images, variant.batch_size, variant.num_workers))
