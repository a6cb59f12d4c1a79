"""Do two devices compute at the same time, with nothing in the program that says so?

The notes multiply a matrix 50 times on each of two GPUs, alone and together, and wait at the end
with a call that waits for one GPU only. Here every device is waited for; the jobs are timed alone,
one after the other, and together, side by side, and the speed-up of together over one after the
other is drawn between its bounds: no gain (the sum) and full gain (the longer of the two). One GPU
has two streams instead of two devices, with small and with large products, the book's own exercise;
without a GPU there are two virtual devices in two threads.

Read `reports/bench_parallel/rows.csv`, one row per sample. Book: 13.3.
"""
