"""The names of bench_hardware's experiments, variants and metrics."""

LATENCY = "latency"  # x: bytes of the working set
DEPENDENT_LOADS, LOADS_IN_ORDER = "dependent loads", "loads in order"

REUSE = "reuse"  # of data larger than the caches; x: its bytes
BY_BLOCKS, BY_PASSES = "each block 8 times", "8 times all blocks"

ORDER = "order"  # of adding up a matrix that is stored by columns; x: its rows
BY_ROWS_STORED_BY_COLUMNS = "row by row, stored by columns"
BY_COLUMNS_STORED_BY_COLUMNS = "column by column, stored by columns"

STRIDE = "stride"  # x: bytes from one number to the next
SUM = "sum"

MATMUL = "matmul"  # x: rows of the matrices
BY_ELEMENT, BY_COLUMN = "one element at a time", "one column at a time"
BY_BLOCK, AT_ONCE = "64 columns at a time", "all at once"

ADDING = "adding"  # x: numbers
LOOP, ONE_CALL = "Python loop", "one call"

PEAK = "peak"  # of large products; x: threads, 0 on a GPU
FLOAT64, FLOAT32, BFLOAT16, FLOAT16 = "float64", "float32", "bfloat16", "float16"
TF32 = "float32 as TF32"

BANDWIDTH = "bandwidth"  # x: threads, 0 on a GPU
COPY = "copy"

VECTOR_RATE = "vector rate"  # of ONE_CALL on many numbers; x: threads

TRIP = "trip"
LAUNCH = "launches"
JUMPS, STAYS = "products by way of the processor", "products on the GPU"

NETWORK = "network"  # x: FLOP per byte
COUNTED_GFLOP = "counted GFLOP"  # of a batch; x: parameters
LENET, RESNET = "LeNet", "ResNet-18 (28 x 28)"
ALEXNET, GOOGLENET = "AlexNet", "GoogLeNet (Inception)"

STEM = "ResNet-18's stem"  # x: images of a pass
SMALL_STEM, ORIGINAL_STEM = "the notes' small stem", "the original stem"  # also of COUNTED_GFLOP

# metrics
VECTORISED = "vectorised_speedup"  # with its interval: _low, _high
# of the device that the networks ran on
PEAK_RATE = "peak_float32_gflop_per_s"
COPY_RATE = "copy_gb_per_s"
