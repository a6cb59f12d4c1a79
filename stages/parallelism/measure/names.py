"""The names of `parallelism`'s experiments and variants in its rows."""

# nets, and kinds of parallelism written by hand
LENET, DENSE = "LeNet", "four dense layers"
ONE, DATA, PIPELINE, TENSOR = "one device", "data parallel", "pipeline", "tensor parallel"

# ways to sum
NOTES_ALLREDUCE, SHARDED_ALLREDUCE = "one device adds (the notes)", "each device adds a share"

# networks
SMALL_RESNET_18 = "ResNet-18 (28 x 28)"
ALEXNET, GOOGLENET, INCEPTION_V3 = "AlexNet", "GoogLeNet (Inception v1)", "Inception v3"
RESNET_18, RESNET_50 = "ResNet-18", "ResNet-50"
RANKED = ((GOOGLENET, INCEPTION_V3), (RESNET_18, RESNET_50), (ALEXNET,))  # the notes' ranking

# metrics: the closest pair of two neighbours in the notes' ranking
INCEPTION_OVER_RESNET = "flop_per_byte_inception_over_resnet"
RESNET_OVER_ALEXNET = "flop_per_byte_resnet_over_alexnet"

NUM_LAYERS = 4  # of LeNet: each device of a pipeline has at least one
