"""How fast and how well does a network train on one device, and on several? One run of
`train.runs`.

The notes' LeNet from scratch or their ResNet-18, plain SGD on the summed loss divided by the batch,
the last, smaller batch of an epoch kept. With several devices each holds a replica and takes its
share of the batch, and the gradients are summed: the same algorithm (but for batch norm, which sees
each share alone), so the curves of one and two devices should lie on each other. Seconds cover
training alone, with all devices synchronised before each reading of the clock. A run that was
killed or stopped goes on, bit for bit, when the same command is given again.

Read `reports/train/<run>/rows.csv`, one row per epoch, `confusion.csv`, one row per class, and
`worst.csv`, the test images it is most wrong about. Book: 13.5 (from scratch), 13.6 (concise).
"""
