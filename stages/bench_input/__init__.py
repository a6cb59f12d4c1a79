"""Is the data loader the bottleneck?

The book's loader makes a PIL image and a float tensor of each image, in four workers that start
anew each epoch. It is timed beside workers that stay and pin memory, no workers, and the whole set
kept in memory as bytes on the device. Nothing is done with these images: it is the loading that is
timed. Then come the parts of a training step, of LeNet fed in three ways and of ResNet-18 with
images in memory; what reading a batch takes apart from preprocessing it; and how much of a step as
the notes write it are the calls of Python and the framework, which the text of 13.5 blames.

Only the book's loader and images in memory pass whole epochs or large parts of one; the others
pass a part, and their epochs are extrapolated.
Read `reports/bench_input/rows.csv`, a row for each fresh process. Book: 13.5.
"""
