"""Steps of two nets whose gradients are summed during the backward pass, after it, or not at all.

For each size of buckets also the sums alone, and when each gradient is ready: the parts from which
`exposed.py` predicts how much longer a step is for its sums.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.futures import Future

from lab.machine.devices import Devices
from lab.nets.models import MODELS, UInt8Input
from lab.parallel.gradient_times import ready_times
from lab.parallel.local_ranks import own_device, time_in_turns
from lab.parallel.replicas import forward_backward, overlapping, sgd
from lab.results.measurements import Measurement, again
from stages.bench_buckets.measure.bucket_hooks import (
    sum_at_last,
    sum_at_once,
    sum_each,
    sum_nothing,
)
from stages.bench_buckets.measure.exposed import exposed_ms, fit_cost, ready_by_half
from stages.bench_buckets.measure.names import AT_LAST, AT_ONCE, COMPUTING, SUMMING
from stages.bench_buckets.measure.params import NetParams, Params

LR = 0.01
SETTLING_STEPS = 3  # after the first, buckets follow the order in which gradients are ready
PASSES = 5  # whose gradients are watched, the first of which warms up

Key = tuple[str, str, float]  # net, variant, most MiB of a bucket


def measure(process: int, params: Params, devices: Devices) -> list[Measurement]:
    """What process number `process` measured as one of the ranks: all variants in turn.

    x is the most MiB of a bucket, 0 without buckets; of gradients it is their bytes.
    """
    nets, device = params.bench_buckets.nets, own_device(devices)
    sweeps = [_Sweep(net, of_net, device, params.seed) for net, of_net in nets.items()]
    variants = {key: variant for sweep in sweeps for key, variant in sweep.variants().items()}
    net, variant, mib = next(key for key in variants if key[1] == AT_LAST)
    variants[net, again(variant), mib] = variants[net, variant, mib]  # the noise control
    seconds = time_in_turns(variants, params.bench, process, device)
    ms = {key: tuple(1e3 * t for t in samples) for key, samples in seconds.items()}
    found = [
        Measurement("step", variant, mib, samples, "ms", columns={"net": net})
        for (net, variant, mib), samples in ms.items()
    ]
    medians = {key: median(samples) for key, samples in ms.items()}
    found += [m for sweep in sweeps for m in sweep.exposed(medians)]
    return [replace(m, device_kind=devices.kind, threads=devices.threads) for m in found]


class _Sweep:
    """A net's replicas, one for each size of buckets."""

    def __init__(self, net: str, params: NetParams, device: torch.device, seed: int) -> None:
        """Build replicas that are alike in all ranks; each rank has images of its own."""
        self.net, self._device = net, device
        own = torch.Generator().manual_seed(seed + 1 + dist.get_rank())
        X = torch.randint(0, 256, (params.images, 28, 28), dtype=torch.uint8, generator=own)
        y = torch.randint(10, (params.images,), generator=own)
        self._batch = X.to(device), y.to(device)
        self._build = lambda: UInt8Input(MODELS[net](torch.Generator().manual_seed(seed))).to(
            device
        )
        self._replicas = {mib: Replica(self._build(), mib, device) for mib in params.bucket_mib}
        self._buckets = {mib: each.settle(*self._batch) for mib, each in self._replicas.items()}

    def variants(self) -> dict[Key, Callable[[], object]]:
        """What is timed; the size of buckets does not matter where nothing is summed."""
        largest = self._replicas[max(self._replicas)]
        found: dict[Key, Callable[[], object]] = {
            (self.net, COMPUTING, 0): partial(largest.step, COMPUTING, *self._batch)
        }
        for mib, replica in self._replicas.items():
            for when in (AT_ONCE, AT_LAST):
                found[self.net, when, mib] = partial(replica.step, when, *self._batch)
            sums = [bucket.numbers for bucket in self._buckets[mib]]
            found[self.net, SUMMING, mib] = partial(sum_each, sums)
        return found

    def exposed(self, ms: Mapping[Key, float]) -> list[Measurement]:
        """When gradients are ready; and what of the sums is exposed, measured and predicted."""
        of_net = partial(Measurement, columns={"net": self.net})
        net = self._build()
        num_bytes = {name: p.nbytes for name, p in net.named_parameters()}
        ready = _ready_ms(net, *self._batch)
        early = ready_by_half(list(ready.values()), [num_bytes[name] for name in ready])
        found = [
            of_net("gradient ready", name.removeprefix("net."), num_bytes[name], (at,), "ms")
            for name, at in ready.items()
        ]
        found.append(of_net("ready by half of the pass", "all gradients", 0, (early,), "%"))
        cost = fit_cost(
            sum(num_bytes.values()),
            {len(each): ms[self.net, SUMMING, mib] for mib, each in self._buckets.items()},
        )
        for mib, buckets in self._buckets.items():
            full = [max(ready[name] for name in bucket.parameters) for bucket in buckets]
            sizes = [bucket.numbers.nbytes for bucket in buckets]
            predicted = {
                AT_ONCE: exposed_ms(full, sizes, cost, max(ready.values())),
                AT_LAST: sum(map(cost.ms, sizes)),
            }
            computing = ms[self.net, COMPUTING, 0]
            found += [
                of_net("exposed", when, mib, (ms[self.net, when, mib] - computing,), "ms")
                for when in predicted
            ]
            found += [
                of_net("predicted exposed", when, mib, (left,), "ms")
                for when, left in predicted.items()
            ]
            found.append(of_net("buckets", "all gradients", mib, (float(len(buckets)),), "buckets"))
        return found


@dataclass(frozen=True)
class Bucket:
    """A tensor of a bucket's size, and whose gradients the bucket holds, by name."""

    numbers: Tensor
    parameters: list[str]


class Replica:
    """A net in DistributedDataParallel, in buckets of at most `bucket_mib` each.

    All processes of the group take each step.
    """

    def __init__(self, net: nn.Module, bucket_mib: float, device: torch.device) -> None:
        """Wrap the net, which steps change."""
        self._names = {id(p): name for name, p in net.named_parameters()}
        self._hooks: dict[str, Callable[[dist.GradBucket], Future[Tensor]]] = {
            AT_ONCE: sum_at_once,
            AT_LAST: partial(sum_at_last, waiting=[]),
            COMPUTING: sum_nothing,
        }
        self._when = AT_ONCE
        self._watched: list[Bucket] | None = None
        self._net = overlapping(net, device, bucket_mib=bucket_mib)
        self._net.register_comm_hook(None, self._full)

    def step(self, when: str, X: Tensor, y: Tensor) -> None:
        """Take a step of SGD with sums AT_ONCE, AT_LAST, or with none at all, if COMPUTING."""
        self._when = when
        forward_backward(self._net, X, y)
        sgd(self._net.parameters(), LR, len(X) * dist.get_world_size())

    def settle(self, X: Tensor, y: Tensor) -> list[Bucket]:
        """The buckets, in the order in which they are full, after the steps that settle them."""
        found: list[Bucket] = []
        for _ in range(SETTLING_STEPS):
            self._watched = found = []
            self.step(AT_LAST, X, y)
        self._watched = None
        return found

    def _full(self, state: None, bucket: dist.GradBucket) -> Future[Tensor]:
        if self._watched is not None:
            named = [self._names[id(p)] for p in bucket.parameters()]
            self._watched.append(Bucket(bucket.buffer().clone(), named))
        return self._hooks[self._when](bucket)


def _ready_ms(net: nn.Module, X: Tensor, y: Tensor) -> dict[str, float]:
    """Milliseconds from the start of a backward pass to each gradient; all ranks compute."""
    dist.barrier()
    passes = ready_times(
        net, lambda: F.cross_entropy(net(X), y, reduction="sum"), PASSES, X.device
    )[1:]
    dist.barrier()
    return {name: median(each[name] for each in passes) for name in passes[0]}
