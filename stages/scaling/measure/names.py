"""The names of `scaling`'s experiments and variants in its rows."""

from lab.parallel.cost_model import LIBRARY, ONE_BUCKET, PER_TENSOR, RING, STAR, allreduce_name

# all-reduces of a net's gradients, each an algorithm and a grouping
NOTES = allreduce_name(STAR, PER_TENSOR)
BY_LIBRARY = allreduce_name(LIBRARY, ONE_BUCKET)
ALLREDUCES = {
    NOTES: (STAR, PER_TENSOR),
    allreduce_name(STAR, ONE_BUCKET): (STAR, ONE_BUCKET),
    allreduce_name(RING, ONE_BUCKET): (RING, ONE_BUCKET),
    BY_LIBRARY: (LIBRARY, ONE_BUCKET),
}
COMPUTING, WAITING = "no communication", "no gradients, but each waits for the other"
AT_LAST, AT_ONCE = "DDP, after the backward pass", "DDP, during the backward pass"
NOTES_IMAGES = {"lenet": 128, "resnet18": 256}  # on each of the notes' two devices
DEFAULT_MIB = 25  # of DistributedDataParallel's buckets
