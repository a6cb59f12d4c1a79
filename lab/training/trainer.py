"""The steps of an epoch, the same for training and for benchmarks of training."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lab.core.shared_params import Augmentation, Precision
from lab.data.augment import varied
from lab.data.images import LabelledImages
from lab.machine.allocator import disable_malloc_trim
from lab.machine.compiler_errors import compiler_errors
from lab.machine.devices import allow_tf32
from lab.training.model import Model, RowsStep

WARM_UP_IMAGES = 32  # per shard, if a step needs no plan for its size
GPU_WARM_UPS = 3  # steps per size: for compilers, cuDNN's plans, and DDP's rebuilt buckets


def prepare_process(precision: Precision) -> None:
    """Set this process up to train: keep freed memory, and compute the same bits in every run.

    Call this before other threads are started.
    """
    disable_malloc_trim()
    allow_tf32(precision)
    torch.backends.cudnn.deterministic = True


class Trainer:
    """A model and its step, warmed up, with the images to train on kept on its first device."""

    def __init__(self, model: Model, step: RowsStep, train_set: LabelledImages) -> None:
        """Move the images, and warm up by the recipe; the model's state stays as it is.

        Raises:
            LabError: the recipe compiles the net, which fails here.
        """
        self.model, self._step = model, step
        self.device = model.devices[0]
        self._originals, self.labels = (tensor.to(self.device) for tensor in train_set)
        self.images = self._originals
        with compiler_errors():
            self._warm_up()

    @property
    def num_images(self) -> int:
        return len(self.labels)

    def vary(self, how: Augmentation, generator: torch.Generator) -> None:
        """Train on augmented images from now on, which reuse the memory of the previous ones."""
        variants = varied(self._originals, how, generator)
        there = self.images is not self._originals and variants is not self._originals
        self.images = self.images.copy_(variants) if there else variants

    def take(
        self,
        batches: Sequence[Tensor],
        rates: Sequence[float],
        losses: Tensor,
        first: int = 0,
        pause: Callable[[int], bool] = lambda images: False,
    ) -> int:
        """Take the steps on `batches` (rows of the images) at their `rates`, from `first` on.

        Write each batch's loss, summed over this process's share, into `losses`. Call `pause` after
        each step with its number of images over all processes, and stop if it returns True. Return
        the number of batches done.
        """
        for i in range(first, len(batches)):
            losses[i] = self._take(batches[i], rates[i])
            if pause(len(batches[i])):
                return i + 1
        return len(batches)

    def _take(self, batch: Tensor, lr: float) -> Tensor:
        own_rows = self.model.share(batch)
        return self._step((self.images, self.labels), own_rows, lr, len(batch))

    def _warm_up(self) -> None:
        """Take a small step and undo it, to create threads, kernels, communicators and buckets.

        A compiled net or a GPU takes steps of each size to come, since kernels depend on the size.
        """
        model, num_images = self.model, self.num_images
        batch_size, lr = model.recipe.batch_size, model.recipe.lr
        state = model.state()
        whole = min(batch_size, num_images)
        small = min(whole, WARM_UP_IMAGES * model.num_shards)
        on_gpu = self.device.type == "cuda"
        of_size = on_gpu or model.recipe.compile != "none"
        sizes = sorted({whole, num_images % batch_size} - {0}) if of_size else [small]
        for size in sizes * (GPU_WARM_UPS if on_gpu else 1):
            self._take(torch.arange(size, device=self.device), lr)
        model.load_state(state)
