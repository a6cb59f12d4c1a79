"""The names of bench_training's demos, arms and metrics."""

LENET, RESNET18 = "lenet", "resnet18"  # demos, by net; x: images per batch
NETS = (LENET, RESNET18)

FOUR_WORKERS, NO_WORKERS = "the notes' way, 4 workers", "the notes' way, no workers"
BY_THE_NOTES = (FOUR_WORKERS, NO_WORKERS)
ENGINE, COMPILED, TF32, BF16 = "engine", "engine, compiled", "engine, tf32", "engine, bf16"
BY_THE_ENGINE = (ENGINE, COMPILED, TF32, BF16)
ONE_WORKER, TWO_WORKERS = "ddp, one worker", "ddp, two workers"
PRODUCT = "matrix product, fp32"  # x: products that have the FLOP of a step

# metrics; the first two behind a net and _, the speed-ups with _low, _high
FP32_SPEEDUP = "fp32_speedup"  # of ENGINE over the faster of BY_THE_NOTES
FP32_OF_PEAK = "fp32_of_peak"  # the rate of ENGINE over that of PRODUCT
TWO_WORKERS_SPEEDUP = "lenet_2workers_speedup"  # of TWO_WORKERS over ONE_WORKER
