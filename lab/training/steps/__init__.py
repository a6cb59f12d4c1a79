"""How a net is trained on its devices: forms of the same step, each a function of a model.

`replicas` is the book's own, by hand (13.5); `graph` is its step on one GPU, recorded as a whole.
`dataparallel` is nn.DataParallel, which the notes use (13.6); it splits over GPUs only. `ddp` is
DistributedDataParallel, one process for each device, in the process group that there is. The last
two average gradients or gather outputs; all are given the summed loss and divide by the whole
batch, so a smaller or uneven shard weighs as much as its images. With a number of shards `replicas`
and `ddp` take the step of `sharded.py` instead, whose bits no number of devices changes.

A step takes this process's share of a batch of `batch_size`: the train set, the rows of its share,
the learning rate and the size. It returns the loss summed over the share, a scalar on the first
device, which the next step may overwrite.
"""
