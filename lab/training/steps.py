"""The loop over an epoch's batches, the same for training and for every benchmark of it."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lab.core.shared_params import Augmentation, Precision
from lab.data.augment import varied
from lab.data.images import LabelledImages
from lab.machine.allocator import disable_malloc_trim
from lab.machine.compiler_errors import compiler_errors
from lab.machine.devices import allow_tf32
from lab.timing.clock import read_clock
from lab.training.strategies.base import Strategy

WARM_UP_IMAGES = 32  # for each shard, where a step needs no plan for its size
GPU_WARM_UPS = 3  # steps of each size: a compiler, cuDNN's plans, DDP's buckets laid out anew
QUESTIONS = 10  # timed together, since one alone is short
ASKING_SHARE = 0.01  # of the steps' time, at most
HEARD_WITHIN_S = 1.0  # of work after a signal, well before the launcher loses patience


def prepare_process(precision: Precision) -> None:
    """Set this process up to train: memory that stays, and the same bits in every run.

    Call it before other threads are started.
    """
    disable_malloc_trim()
    allow_tf32(precision)
    torch.backends.cudnn.deterministic = True


class Stepper:
    """A strategy warmed up, with the images it trains on resident on its first device."""

    def __init__(self, strategy: Strategy, train_set: LabelledImages) -> None:
        """Move the images and warm up by the recipe; the strategy's weights stay as they are.

        Raises:
            LabError: a net is to be compiled, and cannot be here.
        """
        self.strategy = strategy
        self.device = strategy.devices[0]
        self._originals, self.labels = (tensor.to(self.device) for tensor in train_set)
        self.images = self._originals
        with compiler_errors():
            self.ask_every = self._warm_up()

    def take(
        self,
        batches: Sequence[Tensor],
        rates: Sequence[float],
        losses: Tensor,
        first: int = 0,
        on_step: Callable[[int], object] = lambda images: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> int:
        """Take the steps on `batches`, rows of the images, at their `rates`, from `first` on.

        The losses, summed over this process's share of each batch, go into `losses`, one for each
        batch. `on_step` hears how many images a step took, over all processes. Returns how many
        batches are done: fewer than there are only if a process was `stopping`.
        """
        for i in range(first, len(batches)):
            losses[i] = self._step(batches[i], rates[i])
            on_step(len(batches[i]))
            done = i + 1
            if done % self.ask_every == 0 and done < len(batches) and self.asked(stopping):
                return done
        return len(batches)

    @property
    def num_images(self) -> int:
        """How many images there are to train on."""
        return len(self.labels)

    def vary(self, how: Augmentation, generator: torch.Generator) -> None:
        """Train on variants of the images from now on, which lie where the last ones lay."""
        variants = varied(self._originals, how, generator)
        there = self.images is not self._originals and variants is not self._originals
        self.images = self.images.copy_(variants) if there else variants

    def asked(self, stopping: Callable[[], bool]) -> bool:
        """Whether any process is stopping; all of them must ask at the same time."""
        return self.strategy.any(stopping())

    def _step(self, batch: Tensor, lr: float) -> Tensor:
        mine = self.strategy.share(batch)
        return self.strategy.step_on((self.images, self.labels), mine, lr, len(batch))

    def _warm_up(self) -> int:
        """Take a small step and forget it: threads, kernels, communicators, buckets are then made.

        A compiled net, and a GPU, take some of each size that will come, for each of which kernels
        are chosen or made. Returns after how many steps each the processes ask one another whether
        to stop.
        """
        strategy, num_images = self.strategy, self.num_images
        batch_size, lr = strategy.recipe.batch_size, strategy.recipe.lr
        state = strategy.state()
        whole = min(batch_size, num_images)
        small = min(whole, WARM_UP_IMAGES * strategy.num_shards)
        on_gpu = self.device.type == "cuda"
        of_size = on_gpu or strategy.compiled
        sizes = sorted({whole, num_images % batch_size} - {0}) if of_size else [small]
        batches = [torch.arange(size, device=self.device) for size in sizes]
        for batch in batches * (GPU_WARM_UPS if on_gpu else 1):
            self._step(batch, lr)
        every = 1  # one process asks itself, which costs nothing
        if strategy.num_processes > 1:
            step_s = self._seconds(lambda: self._step(batches[-1], lr), 1)
            ask_s = self._seconds(lambda: strategy.any(False), QUESTIONS)
            every = strategy.largest(steps_between(ask_s, step_s, whole / sizes[-1]))
        strategy.load_state(state)
        return every

    def _seconds(self, call: Callable[[], object], calls: int) -> float:
        self.strategy.any(False)  # so that none waits for the others inside the clock
        start = read_clock(self.strategy.devices)
        for _ in range(calls):
            call()
        return (read_clock(self.strategy.devices) - start) / calls


def steps_between(ask_s: float, step_s: float, scale: float = 1.0) -> int:
    """After how many steps each to ask, if asking takes `ask_s`: seldom enough to be cheap.

    `step_s` is the time of a step on a `scale`-th of a batch, 1 or more. One on a whole batch takes
    that at least and `scale` times that at most, so that both bounds hold whatever part of a step
    grows with its batch. Where they contradict each other, a stop is heard in time.
    """
    cheap = math.ceil(ask_s / (ASKING_SHARE * step_s))
    in_time = math.floor(HEARD_WITHIN_S / (scale * step_s))
    return max(1, min(cheap, in_time))
