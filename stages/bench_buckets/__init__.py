"""How much of summing gradients hides behind the backward pass, and in which buckets?

A backward pass computes the last layer's gradients first. DistributedDataParallel joins gradients
into buckets in that order, and sums a bucket among the processes as soon as it is full. Here one
and the same bucket is summed at once, after the whole pass, or not at all, while the size of the
buckets varies; the sums are timed alone, too, and so is when each gradient is ready. From these
parts follows what overlap can hide at best: a bucket's sum begins when the bucket is full and the
sum before it has ended. What is left after the pass is exposed: it makes the step longer.

All variants take turns in fresh processes; the ranks of one give one sample. On virtual
devices sums and gradients are computed by the same processor, where nothing can hide.

Read `reports/bench_buckets/rows.csv`, one row per sample. Book: 13.3, 13.7; Li et al., "PyTorch
Distributed: Experiences on Accelerating Data Parallel Training" (VLDB 2020).
"""
