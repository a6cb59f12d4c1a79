"""How many more epochs does a larger batch need?

LeNet is trained to a test accuracy with batches of several sizes, from several random seeds: with
the same learning rate, and with one that grows with the batch after a warm-up. The profiles `study`
and `full` go to batches of 4096; there, SGD with momentum and LARS, which was made for large
batches, each get the best learning rate that other seeds found. `full` also trains ResNet-18.

Short runs show what gradients cost that are several steps old, as asynchronous workers apply them.
The time per image, measured in fresh processes, turns epochs into seconds. The profiles `study` and
`full` also compare ResNet-18's stem for small images with the original one.

Read `reports/convergence/rows.csv`, a row for each sample: a seed's, or a process's. A run that
misses the target has the whole budget as its `epochs` and 0 as `reached`; `diverged` is 1 if its
numbers became infinite or it ended no better than a constant answer. Book: 13.5, 13.7.
"""
