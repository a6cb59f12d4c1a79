"""What `bench_training` reads of params.yaml, and the names that its rows have."""

from typing import Annotated

from pydantic import Field

from lab.core.params import Section
from lab.core.shared_params import DeviceParams

LENET, RESNET18 = "lenet", "resnet18"  # experiments, by net; x: images per batch
NETS = (LENET, RESNET18)

FOUR_WORKERS, NO_WORKERS = "notes' loop, 4 workers", "notes' loop, no workers"
BY_THE_NOTES = {4: FOUR_WORKERS, 0: NO_WORKERS}  # by the loader's workers
LIGHTNING, PLAIN = "PyTorch Lightning", "plain loop, data in memory"
PEERS = (LIGHTNING, PLAIN)
ENGINE, COMPILED, BF16 = "our loop", "our loop, compiled", "our loop, bfloat16"
# on GPUs alone: the engine's step as one CUDA graph, as are there COMPILED and BF16
GRAPH, FP32, TF32 = "our loop, CUDA graph", "our loop, strict float32", "our loop, TensorFloat-32"
COMPILED_BF16 = "our loop, bfloat16, compiled"
PRODUCT, TF32_PRODUCT = "matrix product, fp32", "matrix product, tf32"
BF16_PRODUCT = "matrix product, bf16"
PRODUCTS = (PRODUCT, TF32_PRODUCT, BF16_PRODUCT)  # x: products that have the FLOP of a step
CONVOLUTION_OF = {name: name.replace("matrix product", "convolution") for name in PRODUCTS}
PEAKS = (*PRODUCTS, *CONVOLUTION_OF.values())  # the faster of each two is the machine's peak
PRODUCT_ROWS = {"cpu": 2048, "cuda": 8192}  # of the matrices, by kind of device

# experiments of LeNet on one and two devices; x: images per batch
NOTES_LENET, LARGE_BATCH, WIDE = "lenet on devices", "lenet, larger batch", "lenet, wider"
ON_DEVICES = (NOTES_LENET, LARGE_BATCH, WIDE)
ONE_DEVICE = "one device"
LOOP, THREADS = "two devices, loop", "two devices, threads"

BY_HAND = "lenet, by hand"  # experiment: seconds per epoch, of one process that is alone

# conditions
NOTES_WORKERS = "lenet_notes_workers"  # of the notes' loader: what the trial found faster
TWO_DEVICES = "two_devices"  # what ON_DEVICES ran on: a kind of device, or `none`

Batch = Annotated[int, Field(ge=2, le=65_536)]
Steps = Annotated[int, Field(ge=1, le=1000)]


class TrainingParams(Section):
    starts: Annotated[int, Field(ge=1, le=1000)]
    lenet_batch_size: Batch
    lenet_steps: Steps
    resnet_batch_size: Batch
    resnet_steps: Steps
    device_steps: Steps
    large_batch_size: Batch
    width: Annotated[int, Field(ge=2, le=64)]
    peers: bool
    compile: bool


class Params(Section):
    devices: DeviceParams
    bench_training: TrainingParams
