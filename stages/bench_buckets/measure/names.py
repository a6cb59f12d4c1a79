"""Names of the experiments, variants and metrics of `bench_buckets`."""

NETS = ("lenet", "resnet18")

# experiments, each of a net
READY = "gradient ready"  # ms since the backward pass began; variants: parameters; x: their bytes
STEP = "step"  # ms; x: the most MiB of a bucket, 0 without buckets
EXPOSED = "exposed"  # ms by which a step is longer than COMPUTING; x: as above
PREDICTED = "predicted exposed"  # ms, from the parts of the same start; x: as above
BUCKETS = "buckets"  # how many there are; x: as above
# experiment of all nets, whose variants are the nets
READY_BY_HALF = "ready by half of the pass"  # percent of the gradients' bytes

# variants of STEP
COMPUTING = "nothing summed"
SUMMING = "sums alone"
AT_ONCE = "each bucket at once"  # when it is full; also of EXPOSED and PREDICTED
AT_LAST = "after the backward pass"

DEFAULT_MIB = 25  # of DistributedDataParallel's buckets

# metric, with _low, _high
SPEEDUP = "resnet18_overlap_speedup"  # AT_LAST over AT_ONCE at DEFAULT_MIB


def of_net(experiment: str, net: str) -> str:
    """The experiment of a net."""
    return f"{experiment}, {net}"
