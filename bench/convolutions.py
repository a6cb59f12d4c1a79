"""How near convolutions come to a matrix product, by which this lab measures a processor's peak.

`python -m bench.convolutions` prints GFLOP/s on one thread, medians over rounds in turns: a matrix
product, the same as a convolution of 1 x 1, and ResNet-18's convolutions of 3 x 3. Those are
counted as `torch.utils.flop_counter` does, with the products of the padding, and without them.
`ONEDNN_VERBOSE=1` says which code computes them: `alg:convolution_direct`, or Winograd's.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.core.shared_params import BenchParams
from lab.results.stats import summarise
from lab.timing.bench import time_variants

CPU = torch.device("cpu")
ROWS, BATCH_SIZE = 1024, 32
LAYERS = {64: 28, 128: 14, 256: 7, 512: 4}  # ResNet-18's channels, and the side of their images
BENCH = BenchParams(starts=1, rounds=25, min_sample_ms=50)


class Variant(NamedTuple):
    """What is timed, and its floating-point operations, with the padding's and without."""

    run: Callable[[], Tensor]
    flop: float
    flop_inside: float


def variants() -> dict[str, Variant]:
    """A product of matrices, the same as a convolution, and convolutions that pad their images."""
    a, b = torch.rand(2, ROWS, ROWS)
    X, W = torch.rand(1, ROWS, ROWS, 1), torch.rand(ROWS, ROWS, 1, 1)
    flop = 2.0 * ROWS**3
    found = {
        "matrix product": Variant(partial(torch.mm, a, b, out=torch.empty_like(a)), flop, flop),
        "1 x 1": Variant(partial(F.conv2d, X, W), flop, flop),
    }
    for channels, side in LAYERS.items():
        X = torch.rand(BATCH_SIZE, channels, side, side)
        W = torch.rand(channels, channels, 3, 3)
        X, W = (t.to(memory_format=torch.channels_last) for t in (X, W))
        flop = 2.0 * BATCH_SIZE * channels**2 * (3 * side) ** 2
        inside = flop * ((3 * side - 2) / (3 * side)) ** 2
        run = partial(F.conv2d, X, W, padding=1)
        found[f"3 x 3, {channels} channels"] = Variant(run, flop, inside)
    return found


@torch.no_grad()
def main() -> None:
    """Time them."""
    torch.set_num_threads(1)
    timed = variants()
    times = time_variants(
        {name: variant.run for name, variant in timed.items()},
        [CPU],
        BENCH,
        control="matrix product",
    )
    for name, variant in timed.items():
        seconds = summarise(times[name]).median
        print(
            f"{name}: {variant.flop / seconds / 1e9:.0f} GFLOP/s,"
            f" {variant.flop_inside / seconds / 1e9:.0f} without padding"
        )


if __name__ == "__main__":
    main()
