"""LeNet under each schedule."""

from collections.abc import Iterator
from itertools import product

import torch

from lab.data.images import Images
from lab.optim.schedules import after_epoch
from lab.parallel.workers import map_with_progress
from lab.results.curves import Curve, line
from lab.training.short_training import SmallLeNet, accuracy_or_chance
from stages.schedules.measure import names
from stages.schedules.measure.book_schedules import EPOCHS, SCHEDULES
from stages.schedules.measure.params import ScheduleParams
from stages.schedules.measure.short_runs import stretched, train


def try_schedules(
    train_set: Images, test_set: Images, params: ScheduleParams, seed: int
) -> Iterator[Curve]:
    """The test accuracy (percent) in which each schedule ends, by seed."""
    plans = {name: stretched(schedule, params.steps) for name, schedule in SCHEDULES.items()}
    as_the_book = after_epoch(SCHEDULES[names.COSINE_WARM_UP], EPOCHS, params.steps)
    plans[names.AS_THE_BOOK] = as_the_book[EPOCHS // 2 :: EPOCHS]  # 20 epochs in `steps` steps
    device, seeds = train_set.X.device, range(params.num_seeds)

    def run(job: tuple[str, int]) -> float:
        name, i = job
        generator = torch.Generator().manual_seed(seed + i)
        net = SmallLeNet(generator, params.image_side).to(device)
        train(net, train_set, plans[name], params.batch_size, generator)
        return 100 * accuracy_or_chance(net, test_set)

    found = map_with_progress(names.ACCURACY, run, product(plans, seeds), device)
    for name in plans:
        yield line(names.ACCURACY, name, seeds, [found[name, i] for i in seeds])
