"""How fast can the notes' loop become?

The notes' training loop (torchvision's data set, ToTensor, a `DataLoader`, eager mode) against the
loop of `stages.train` (images in memory as bytes, only the pixels that LeNet uses, channels-last
layout, freed memory reused), on LeNet and ResNet-18. Layers, batches and plain SGD are the same, so
the losses differ by rounding only. In each repetition every variant is a fresh process; they
alternate, each repetition in a different order, and each gives one sample. Our loop takes part
twice, as a noise control. The rate of large matrix multiplications and convolutions says how near
to the machine's peak a step comes.

Some steps are timed and scaled to an epoch; what an epoch pays once, such as starting its loader,
counts in proportion. In the profile `study` PyTorch Lightning and a plain loop over images in
memory race as well. On two devices of one process, a loop over the devices and a thread for each
are compared, also with larger batches and a wider LeNet.

Read `reports/bench_training/rows.csv`, one sample per fresh process. Book: 13.5, 13.6.
"""
