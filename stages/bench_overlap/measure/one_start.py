"""What one start of a process measures."""

from lab.machine.devices import Devices, resolve
from lab.machine.gpus.errors import gpu_errors
from lab.parallel.workers import thread_pool
from lab.results.measurements import Measurement, skip
from lab.timing.bench import (
    in_unit,
    measure_over_launch,
    products,
    size_past_launch_bound,
    time_variants,
)
from stages.bench_overlap.measure import names
from stages.bench_overlap.measure.gradients import BATCH_SIZE, lenet_passes, measure_gradients
from stages.bench_overlap.measure.non_blocking import measure_return
from stages.bench_overlap.measure.params import Params
from stages.bench_overlap.measure.variants import variants_of, work_of


def lasting(params: Params) -> tuple[Params, int]:
    """The same params, and the images of a backward pass; on a GPU what outlasts its launch.

    There the results are as many as the notes', too: all but one can be copied beside a product.
    """
    devices = resolve(1, params.devices)
    device, ours = devices.devices[0], params.bench_overlap
    with gpu_errors():
        size = size_past_launch_bound(products(device), ours.size, devices, params.bench)
        images = size_past_launch_bound(
            lenet_passes(device, params.seed), BATCH_SIZE, devices, params.bench
        )
    count = max(ours.num_results, names.NOTES_RESULTS if device.type == "cuda" else 0)
    sized = ours.model_copy(update={"size": size, "num_results": count})
    return params.model_copy(update={"bench_overlap": sized}), images


def measure(start: int, params: Params, images: int) -> list[Measurement]:
    """All times of start number `start`."""
    return measure_on(params, resolve(1, params.devices), start, images)


def measure_on(
    params: Params, devices: Devices, start: int, images: int = BATCH_SIZE
) -> list[Measurement]:
    """Times of all variants, bandwidths, when a call returns, and when gradients are ready."""
    device = devices.devices[0]
    work = work_of(params, device)
    best = names.TWO_STREAMS if work.x.is_cuda else names.BESIDE
    with thread_pool(2, devices.threads) as pool:
        variants = variants_of(work, pool)
        seconds = time_variants(variants, devices.devices, params.bench, start, control=best)
    size, kind = params.bench_overlap.size, devices.kind
    rates = {
        variant: tuple(work.num_bytes / t / 1e9 for t in seconds[variant])
        for variant in names.ALONE
        if variant in seconds and variant != names.COMPUTE
    }
    return [
        *in_unit(names.TIMES, size, seconds, "ms", devices),
        *[Measurement(names.BANDWIDTH, a, size, r, "GB/s", kind) for a, r in rates.items()],
        *[
            skip(names.TIMES, variant, "needs a CUDA GPU", kind)
            for variant in names.ONLY_CUDA
            if variant not in seconds
        ],
        *measure_return(work, devices, params.bench.rounds),
        *measure_gradients(params, devices, images),
        *measure_over_launch(names.ONE_PRODUCT, products(device), size, devices, params.bench),
        *measure_over_launch(
            names.ONE_PASS, lenet_passes(device, params.seed), images, devices, params.bench
        ),
    ]
