"""How fast can LeNet train once you apply everything?

We start from the notes' code for LeNet (13.5: a `DataLoader`, float32, plain SGD at a constant
learning rate) and add one change at a time, each of which another stage explains: the data set in
memory, only those pixels that LeNet uses, channels-last layout, reuse of freed memory, bfloat16, He
initialization, Nesterov momentum, a one-cycle schedule, another batch size, two devices. Each row
is trained until the test accuracy is the book's 83 %, in a process of its own; a row with a
one-cycle schedule for a number of epochs chosen beforehand on images held out from the training
set. In longer profiles the last row, or each, is trained to 90 % as well.

The clock starts when the first batch is loaded. It counts loading, warming up and all steps, and
leaves out imports and the evaluation after each epoch. The first rows take the same steps, but for
rounding; where they are too slow to be trained whole, a part of an epoch is timed, and the seconds
are extrapolated to as many epochs as the last of these rows needs. Read
`reports/together/rows.csv`: seconds and accuracy of each epoch.
"""
