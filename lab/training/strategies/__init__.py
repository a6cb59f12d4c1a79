"""How a net is trained on its devices, by name: forms of the same step of SGD.

`replicas` is the book's own, by hand (13.5); `graph` is its step on one GPU, recorded as a whole.
`dataparallel` is nn.DataParallel, which the notes use (13.6); it splits over GPUs only. `ddp` is
DistributedDataParallel, one process for each device, in the process group that
`lab.parallel.launch` makes. The last two average gradients or gather outputs; all are given the
summed loss and divide by the whole batch, so a smaller or uneven shard weighs as much as its
images. With a number of shards `replicas` and `ddp` take the steps of `sharded.py` instead, whose
bits no number of devices changes.
"""
