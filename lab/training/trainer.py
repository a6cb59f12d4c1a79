"""The steps of an epoch, the same for training and for every benchmark of it."""

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

WARM_UP_IMAGES = 32  # for each shard, where a step needs no plan for its size
GPU_WARM_UPS = 3  # steps of each size: a compiler, cuDNN's plans, DDP's buckets laid out anew


def prepare_process(precision: Precision) -> None:
    """Set this process up to train: memory that stays, and the same bits in every run.

    Call it before other threads are started.
    """
    disable_malloc_trim()
    allow_tf32(precision)
    torch.backends.cudnn.deterministic = True


class Trainer:
    """A model and its step, warmed up, with the images to train on kept on its first device."""

    def __init__(self, model: Model, step: RowsStep, train_set: LabelledImages) -> None:
        """Move the images and warm up by the recipe; the model's weights stay as they are.

        Raises:
            LabError: a net is to be compiled, and cannot be here.
        """
        self.model, self._step = model, step
        self.device = model.devices[0]
        self._originals, self.labels = (tensor.to(self.device) for tensor in train_set)
        self.images = self._originals
        with compiler_errors():
            self._warm_up()

    @property
    def num_images(self) -> int:
        """How many images there are to train on."""
        return len(self.labels)

    def vary(self, how: Augmentation, generator: torch.Generator) -> None:
        """Train on variants of the images from now on, which lie where the last ones lay."""
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
        """Take the steps on `batches`, rows of the images, at their `rates`, from `first` on.

        The losses, summed over this process's share of each batch, go into `losses`, one for each
        batch. `pause` hears after each step how many images it took, over all processes, and says
        whether to stop there. Returns how many batches are done.
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
        """Take a small step and forget it: threads, kernels, communicators, buckets are then made.

        A compiled net, and a GPU, take some of each size that will come, for each of which kernels
        are chosen or made.
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
