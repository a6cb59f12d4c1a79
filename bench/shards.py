"""What shards cost: steps in 1 to 8 shards beside a step without, on two devices, in turns.

`python -m bench.shards NET...` (`lenet`, `resnet18`; all without a word) prints a line for each
net, precision and number of shards: milliseconds of a step, and how many times as long as without
shards it takes, with the interval over rounds that holds the median with 99 %.
"""

import sys
from functools import partial
from itertools import product

import torch

from lab.core.shared_params import BenchParams, Precision
from lab.nets.models import MODELS
from lab.results.stats import speedup, summarise
from lab.timing.bench import time_variants
from lab.training.model import Model, Step
from lab.training.run_params import NOTES
from lab.training.steps.by_name import model_and_step
from lab.training.trainer import prepare_process

TWO = [torch.device("cpu")] * 2
BATCH_SIZES = {"lenet": 256, "resnet18": 32}
PRECISIONS: tuple[Precision, ...] = ("fp32", "bf16")
SHARDS = (2, 4, 8)
BENCH = BenchParams(starts=1, rounds=16, min_sample_ms=50)


def variants_of(net: str, precision: Precision) -> dict[str, tuple[Model, Step]]:
    """A model and its step without shards, and with each number of them."""
    made = MODELS[net](torch.Generator().manual_seed(0))
    recipe = NOTES.but(precision=precision)
    return {"none": model_and_step(made, TWO, recipe)} | {
        f"{count} shards": model_and_step(made, TWO, recipe.but(shards=count)) for count in SHARDS
    }


def main() -> None:
    """Time the steps of each net in each precision."""
    prepare_process("fp32")
    torch.set_num_threads(1)
    for net, precision in product(sys.argv[1:] or BATCH_SIZES, PRECISIONS):
        size = BATCH_SIZES[net]
        X = torch.randint(0, 256, (size, 28, 28), dtype=torch.uint8)
        y = torch.randint(0, 10, (size,))
        variants, rows = variants_of(net, precision), torch.arange(size)
        steps = {
            name: partial(step, (X, y), rows, 0.01, size) for name, (_, step) in variants.items()
        }
        times = time_variants(steps, TWO, BENCH, control="none")
        for name, seconds in times.items():
            ms, ratio = 1e3 * summarise(seconds).median, speedup(seconds, times["none"])
            print(
                f"{net}, {precision}, {name}: {ms:.3g} ms, {ratio.median:.3f} times as long"
                f" ({ratio.low:.3f} to {ratio.high:.3f})"
            )
        for model, _ in variants.values():
            model.close()


if __name__ == "__main__":
    main()
