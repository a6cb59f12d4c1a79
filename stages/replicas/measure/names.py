"""The names of `replicas`'s experiments and variants in its rows."""

# variants of training
IN_PLACE = "in place (book)"
REBINDING = "assigned (note 001)"
ALIASING = "without a copy"
MEANS = "mean of means"
VARIANTS = (ALIASING, REBINDING, MEANS, IN_PLACE)
ONE_DEVICE = "one device"

# nets with compared gradients
WITH_BATCH_NORM, WITHOUT_BATCH_NORM = "ResNet-18, with batch norm", "LeNet, without"

PROGRAMS = {  # the notes' programs that use a device, each with its note and lines
    "matrix multiplications on try_gpu()": "000:136-157",
    "matrix multiplications on try_gpu(), synchronized": "000:161-171",
    "matrices on two devices": "000:196-204",
    "matrix multiplications on each device, synchronized": "000:208-230",
    "copies to the CPU, synchronized": "000:237-257",
    "parameters moved to try_gpu(0)": "000:322-326 001:520-524 002:65-67 004:49-51",
    "all-reduce over try_gpu(0) and try_gpu(1)": "000:340-346 001:535-540 002:91-97 004:67-70",
    "scatter to cuda:0 and cuda:1": "000:352-359 001:542-549 002:111-118 004:81-86",
    "training from scratch, 1 GPU": "000:424 002:200",
    "training from scratch, 2 GPUs": "000:430 001:603 002:205 004:139",
    "concise training, 1 GPU": "000:552 002:327 003:94",
    "concise training, 2 GPUs": "000:558 001:677 002:332",
}
