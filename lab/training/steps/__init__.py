"""Training strategies: forms of the same step, each made from a model.

`replicas` is the book's own, by hand (13.5); `graph` is its step on one GPU, recorded as a whole.
`dataparallel` is nn.DataParallel, which the notes use (13.6); it only splits over GPUs. `ddp` is
DistributedDataParallel, one process per device, in the current process group. The last two gather
outputs or average gradients. All get the summed loss and divide by the whole batch, so each image
has the same weight, even in uneven shards. With a number of shards, `replicas` and `ddp` take the
step of `sharded.py` instead, whose bits do not depend on the number of devices.

A step's arguments are the train set, the rows of this process's share of a batch, the learning rate
and the size of the whole batch. It returns the loss summed over the share, a scalar on the first
device, which the next step may overwrite.
"""
