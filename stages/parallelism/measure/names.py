"""What the experiments of `parallelism` and their variants are called in its rows."""

# nets, and kinds of parallelism by hand
LENET, DENSE = "LeNet", "four dense layers"
ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"

# ways to sum
NOTES_ALLREDUCE, SHARDED_ALLREDUCE = "one device adds (the notes)", "each device adds a share"

# networks
SMALL_RESNET_18 = "ResNet-18 (28 x 28)"
ALEXNET, GOOGLENET, INCEPTION_V3 = "AlexNet", "GoogLeNet (Inception v1)", "Inception v3"
RESNET_18, RESNET_50 = "ResNet-18", "ResNet-50"
RANKED = ((GOOGLENET, INCEPTION_V3), (RESNET_18, RESNET_50), (ALEXNET,))  # by the notes

# metrics: the closest pair of each two neighbours of the notes' ranking
INCEPTION_OVER_RESNET = "flop_per_byte_inception_over_resnet"
RESNET_OVER_ALEXNET = "flop_per_byte_resnet_over_alexnet"

NUM_LAYERS = 4  # of LeNet: a device of a pipeline has one at least
