"""How much faster than the notes' way does this engine train, and how near to what the machine can
do?

The notes' loop (torchvision's data set, ToTensor, a DataLoader with 4 or with no workers, eager,
torch's defaults) against the loop of `stages.train` itself (resident bytes, channels-last memory
that stays in the process), on the same mathematics: the same layers, batches and plain SGD. Each
arm trains in a process of its own, the processes take turns, and products of large matrices run in
the same turns, so that the share of the machine's peak is of this very run. LeNet also by `ddp` on
one and on two workers of equal threads; the engine compiled, if asked for; and in bfloat16, on GPUs
in TensorFloat-32 too, which are not the same arithmetic and are labelled.

Read `reports/bench_training/rows.csv`, one row per turn. Book: 13.5, 13.6.
"""
