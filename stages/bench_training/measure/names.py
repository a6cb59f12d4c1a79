"""The names of `bench_training`'s experiments and variants in its rows."""

LENET, RESNET18 = "lenet", "resnet18"  # experiments, by net; x: images per batch
NETS = (LENET, RESNET18)

FOUR_WORKERS, NO_WORKERS = "notes' loop, 4 workers", "notes' loop, no workers"
BY_THE_NOTES = {4: FOUR_WORKERS, 0: NO_WORKERS}  # by the loader's workers
LIGHTNING, EXAMPLE = "PyTorch Lightning", "PyTorch's MNIST example"
PLAIN = "plain loop, data in memory"
LIGHTNING_BF16, PLAIN_BF16 = "PyTorch Lightning, bfloat16", "plain loop, bfloat16"
PEERS = (LIGHTNING, EXAMPLE, PLAIN, LIGHTNING_BF16, PLAIN_BF16)
ENGINE, COMPILED, BF16 = "our loop", "our loop, compiled", "our loop, bfloat16"
COMPILED_BF16 = "our loop, bfloat16, compiled"
# on GPUs only: the engine's step as one CUDA graph; COMPILED and BF16 are graphs there as well
GRAPH, FP32, TF32 = "our loop, CUDA graph", "our loop, strict float32", "our loop, TensorFloat-32"
# what bounds a step: rates of this machine, and the parts of the engine's step
RATE = "rate"  # experiment; x: 0
ARITHMETIC = {"fp32": "arithmetic, fp32", "tf32": "arithmetic, tf32", "bf16": "arithmetic, bf16"}
COPIES = "copies"
PARTS = "parts of a step"  # experiment; variants: kinds of operations; x: images per batch

# experiments of LeNet on one and two devices; x: images per batch
NOTES_LENET, WIDE = "lenet on devices", "lenet, wider"
ON_DEVICES = (NOTES_LENET, WIDE)
ONE_DEVICE = "one device"
LOOP, THREADS = "two devices, loop", "two devices, threads"

# conditions
NOTES_WORKERS = "lenet_notes_workers"  # of the loader: the faster number in the trial
VECTOR_LENGTH = "vector_length"  # numbers in a CPU's vector; 1 on a GPU
TWO_DEVICES = "two_devices"  # what ON_DEVICES ran on: a kind of device, or `none`
