"""One rank's share of a start: all variants of both nets in turn, and when gradients are ready."""

from collections.abc import Callable
from functools import partial
from statistics import median

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from lab.machine.devices import Devices
from lab.nets.models import MODELS, UInt8Input
from lab.parallel.gradient_times import ready_times
from lab.parallel.local_ranks import time_in_turns
from lab.results.measurements import Measurement, again
from stages.bench_buckets.measure import names
from stages.bench_buckets.measure.hidden import exposed_ms, fit_cost, ready_by_half
from stages.bench_buckets.measure.hooked import Bucket, Bucketed, sum_each
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, COMPUTING, SUMMING
from stages.bench_buckets.measure.params import NetParams, Params

Key = tuple[str, str, float]  # net, variant, most MiB of a bucket
PASSES = 5  # whose gradients are watched, the first of which warms up


def measure(
    device: torch.device, devices: Devices, params: Params, start: int
) -> list[Measurement]:
    """What start number `start` measured: times round by round, and what follows from them."""
    nets = params.bench_buckets.nets
    of_nets = [_OfNet(net, of_net, device, params.seed) for net, of_net in nets.items()]
    variants = {key: variant for of_net in of_nets for key, variant in of_net.variants().items()}
    net, variant, size = next(key for key in variants if key[1] == AT_LAST)
    variants[net, again(variant), size] = variants[net, variant, size]  # the noise control
    seconds = time_in_turns(variants, params.bench, start, device)
    ms = {key: tuple(1e3 * t for t in samples) for key, samples in seconds.items()}
    on = devices.kind, devices.threads
    times = [
        Measurement(names.of_net(names.STEP, net), variant, size, found, "ms", *on)
        for (net, variant, size), found in ms.items()
    ]
    of_start = {key: median(found) for key, found in ms.items()}
    return [*times, *(m for of_net in of_nets for m in of_net.derived(of_start, devices))]


class _OfNet:
    """A net's replicas, one for each size of buckets, and what is known of their buckets."""

    def __init__(self, net: str, params: NetParams, device: torch.device, seed: int) -> None:
        """Build replicas that are alike in all ranks; each rank has images of its own."""
        self.net, self._device = net, device
        own = torch.Generator().manual_seed(seed + 1 + dist.get_rank())
        X = torch.randint(0, 256, (params.images, 28, 28), dtype=torch.uint8, generator=own)
        self._X = X.to(device)
        self._y = torch.randint(10, (params.images,), generator=own).to(device)
        self._build = lambda: UInt8Input(MODELS[net](torch.Generator().manual_seed(seed))).to(
            device
        )
        self._replicas = {mib: Bucketed(self._build(), mib, device) for mib in params.bucket_mib}
        self._buckets: dict[float, list[Bucket]] = {
            mib: replica.settle(self._X, self._y) for mib, replica in self._replicas.items()
        }

    def variants(self) -> dict[Key, Callable[[], object]]:
        """What is timed, by net, variant and size of buckets; without sums size does not matter."""
        found: dict[Key, Callable[[], object]] = {}
        largest = max(self._replicas)
        batch = self._X, self._y
        found[self.net, COMPUTING, 0] = partial(self._replicas[largest].step, COMPUTING, *batch)
        for mib, replica in self._replicas.items():
            for when in (AT_ONCE, AT_LAST):
                found[self.net, when, mib] = partial(replica.step, when, *batch)
            sums = [bucket.numbers for bucket in self._buckets[mib]]
            found[self.net, SUMMING, mib] = partial(sum_each, sums)
        return found

    def derived(self, ms: dict[Key, float], devices: Devices) -> list[Measurement]:
        """When gradients are ready, and the exposed time of each size: measured, and predicted."""
        net, on = self.net, (devices.kind, devices.threads)
        alone = self._build()
        ready = self._ready(alone)
        sizes = {name: p.nbytes for name, p in alone.named_parameters()}
        found = [
            Measurement(
                names.of_net(names.READY, net),
                name.removeprefix("net."),
                sizes[name],
                (at,),
                "ms",
                *on,
            )
            for name, at in ready.items()
        ]
        early = ready_by_half(list(ready.values()), [sizes[name] for name in ready])
        found.append(Measurement(names.READY_BY_HALF, net, 0, (early,), "%", *on))
        cost = fit_cost(
            sum(sizes.values()),
            {len(each): ms[net, SUMMING, mib] for mib, each in self._buckets.items()},
        )
        for mib, each in self._buckets.items():
            full = [max(ready[name] for name in bucket.parameters) for bucket in each]
            num_bytes = [bucket.numbers.nbytes for bucket in each]
            exposed = {
                when: ms[net, when, mib] - ms[net, COMPUTING, 0] for when in (AT_ONCE, AT_LAST)
            }
            predicted = {
                AT_ONCE: exposed_ms(full, num_bytes, cost, max(ready.values())),
                AT_LAST: sum(map(cost.ms, num_bytes)),
            }
            for experiment, of_variants in ((names.EXPOSED, exposed), (names.PREDICTED, predicted)):
                found += [
                    Measurement(names.of_net(experiment, net), variant, mib, (value,), "ms", *on)
                    for variant, value in of_variants.items()
                ]
            count = float(len(each))
            found.append(
                Measurement(names.of_net(names.BUCKETS, net), net, mib, (count,), "buckets", *on)
            )
        return found

    def _ready(self, net: nn.Module) -> dict[str, float]:
        """Milliseconds from the start of a backward pass to each gradient; all ranks compute."""
        dist.barrier()
        passes = ready_times(net, self._loss_of(net), PASSES, self._device)[1:]
        dist.barrier()
        return {name: median(each[name] for each in passes) for name in passes[0]}

    def _loss_of(self, net: nn.Module) -> Callable[[], Tensor]:
        return lambda: F.cross_entropy(net(self._X), self._y, reduction="sum")
