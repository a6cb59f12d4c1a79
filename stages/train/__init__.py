"""Does training on two devices give the same network?

Each run of `train.runs` in params.yaml is a training run of its own: the notes' LeNet from scratch
or their ResNet-18, plain SGD on the summed loss divided by the batch size, the last, smaller batch
of an epoch kept. On several devices each device holds a replica and takes its share of the batch,
and the gradients are summed. Without batch norm that is the same algorithm up to rounding, so the
curves of one and two devices should lie on each other; batch norm sees each share on its own.

Seconds cover training only, with all devices synchronized before each reading of the clock. A run
that was killed or stopped resumes, bit for bit, when the same command is given again. Read
`reports/train/<run>/rows.csv`, one row per epoch. Book: 13.5 (from scratch), 13.6 (concise).
"""
