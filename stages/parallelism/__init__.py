"""What do several devices send each other and hold in a step, and which networks bear it?

*Kinds*: LeNet's gradient on several devices, data parallel, as a pipeline and tensor parallel; the
bytes that devices send each other and hold are counted while each step runs. *Ratio*: FLOP of a
training step per byte of parameters, counted for the notes' networks and for those that the notes
rank.

Read `reports/parallelism/rows.csv`: per demo and series, points (x, y). x is images per step; in
`ratio_counted` it is MB of parameters, and y GFLOP of an image. Nothing here is a time. Book: 13.5,
13.7.
"""
