"""What do all the lessons of the notes give together?

From the notes' way to train LeNet (13.5: images through PIL and a loader, float32, plain SGD at a
constant rate) one lesson at a time is added, each of which another stage explains: images that stay
in memory, only those pixels that the net's answer depends on, channels last, memory that is kept,
bfloat16, weights that learn at once, momentum, a schedule, another batch size, two devices. Each
rung is trained until the test accuracy is the book's 83 %, the last one, too, until it is 90 %, in
a process of its own. A rung with one cycle of rates is trained once for each accuracy, with a
number of epochs chosen beforehand on images held out from the training set.

The clock starts when the first batch is loaded. It counts loading, warming up and all steps, and
leaves out imports and the evaluation after each epoch. The first rungs take the same steps as the
first that computes in bfloat16, but for rounding; where they are too slow to be trained whole, a
part of an epoch is timed, and the seconds are those of as many epochs as that one needs:
extrapolated, and marked so. Read `reports/together/rows.csv`: seconds and accuracy of each epoch.
"""
