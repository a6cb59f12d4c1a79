"""Do two devices run in parallel without being told to?

The notes multiply a matrix 50 times on each of two GPUs, separately and together, and at the end
wait with a call that waits for the current GPU only. This stage waits for every device. It times
both jobs alone, concurrently, and with a wait in between, which is all that makes them sequential.
Perfect overlap would take as long as the slower device alone. Where there is only one GPU, two of
its streams stand in for the devices; without a GPU, two shares of the CPU with a thread each.

Each fresh process also times its first run against later ones, which shows what warming up is for.
Chains of multiplications that need each other's results show what two devices cannot do. On two
GPUs, three ways to wait show for which GPU `torch.cuda.synchronize` waits.

Read `reports/bench_parallel/rows.csv`, one sample per fresh process. Book: 13.2, 13.3.
"""
