"""What does each kind of parallelism send and store?

Data parallelism gives each device all parameters and a share of the images; a pipeline gives each
device some of the layers, tensor parallelism a share of each layer. LeNet and four dense layers are
trained in all three ways, by hand and by PyTorch's libraries. Every byte that goes from one device
to another is counted, and so is what each device stores. Steps on two devices are timed as well.
The FLOP per byte of parameters say which networks can afford to send their gradients.

In `reports/parallelism/rows.csv` x is images per step; a pipeline without `micro_batches` has those
of params.yaml. Book: 13.5, 13.7.
"""
