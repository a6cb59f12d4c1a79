"""What do several devices send each other and hold in a step, and which networks bear it?

*Kinds*: a net's gradient on several devices, data parallel, as a pipeline and tensor parallel; the
bytes that devices send each other and hold are counted while each step of LeNet runs, and what a
net that is nearly all parameters takes of each device. *Times*: steps of both nets on two devices
side by side, in fresh processes. *All-reduce*: what each device sends in the notes', and in one
that all devices share. *Ratio*: FLOP of a training step per byte of parameters, counted for the
notes' networks and for those that the notes rank.

Read `reports/parallelism/rows.csv`: per experiment and series, points (x, y). x is images per step,
or the devices, or in the experiments of milliseconds the start; in `ratio_counted` it is MB of
parameters, and y GFLOP of an image. Book: 13.5, 13.7.
"""
