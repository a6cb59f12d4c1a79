"""The names of bench_hardware's demos, arms and metrics."""

LATENCY = "latency"  # x: bytes of the working set
DEPENDENT_LOADS = "dependent loads"

ORDER = "order"  # of adding up a matrix; x: its rows
BY_ROWS, BY_COLUMNS = "row by row", "column by column"

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

TRIP = "trip"
LAUNCH, THERE_AND_BACK = "launch", "to the GPU and back"

NETWORK = "network"  # x: FLOP per byte
COUNTED = "counted"  # GFLOP and GB of a batch; x: parameters
LENET, RESNET = "LeNet", "ResNet-18 (28 x 28)"
ALEXNET, GOOGLENET = "AlexNet", "GoogLeNet (Inception)"

# metrics; the speed-ups have an interval: _low, _high
ROWS_OVER_COLUMNS = "rows_over_columns_speedup"
VECTORISED = "vectorised_speedup"
# of the device that the networks ran on
PEAK_RATE = "peak_float32_gflop_per_s"
COPY_RATE = "copy_gb_per_s"
