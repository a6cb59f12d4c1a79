"""How much of the all-reduce can overlap with the backward pass?

A backward pass computes the gradients of the last layer first. PyTorch's DistributedDataParallel
collects gradients in buckets, and starts the all-reduce of a bucket as soon as it is full. Here
ResNet-18 and LeNet train in several processes. The all-reduce of the same buckets starts when each
is full, only after the backward pass, or not at all, for several sizes of buckets. The all-reduce
is also timed by itself, and so is when each gradient is ready. From these two a model predicts how
long the step goes on after the pass: `measure/exposed.py`.

Read `reports/bench_buckets/rows.csv`, one row per sample; "exposed" there is what does not overlap.
Book: 13.3, 13.7; Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel
Training" (VLDB 2020).
"""
