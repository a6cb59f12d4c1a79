"""Do two devices compute at the same time, with nothing in the program that says so?

The notes multiply a matrix 50 times on each of two GPUs, alone and together, and wait at the end
with a call that waits for one GPU only. Here every device is waited for. The jobs are timed alone,
together, and with a wait in between, which is all that tells one after the other from together; the
speed-up of together is drawn between its bounds: no gain (the sum) and full gain (the longer of the
two). One GPU has two streams instead of two devices, with small and with large products, the book's
own exercise; without a GPU there are two virtual devices in two threads.

Before that, each fresh process times its first run against its second and later ones: what a
run to warm up is for. Chains of products that need each other's results show what two devices
cannot do. On two GPUs, three waits tell which of them `torch.cuda.synchronize` waits for; on any,
the large matrices grow until a product takes many times as long as its launch: else two GPUs would
wait for one Python (lab/timing/bench.py).

Read `reports/bench_parallel/rows.csv`, one sample per fresh process. Book: 13.2, 13.3.
"""
