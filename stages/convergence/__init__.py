"""How many epochs does the same accuracy take at a larger batch, and does a larger rate help?

LeNet, and in the profile `full` ResNet-18, is trained to a test accuracy at batches from small to
large, with the rate kept, and with the rate scaled by the batch behind a warm-up, from several
seeds. The profiles `study` and `full` go to batch 4096, and look there for the best rate of SGD
with momentum and of LARS, which was made for large batches. Runs of equally many images apply
gradients that are several steps old, as asynchronous workers do. The time of an image at each batch
size, measured in fresh processes, turns epochs into seconds. The profiles `study` and `full` train
ResNet-18 on equally many images of 28 x 28 pixels with the notes' small stem and with the original
one.

Read `reports/convergence/rows.csv`: a row for each sample, of a seed or of a process. A run without
the target has the whole budget as its `epochs`, `reached` 0, and `diverged` 1 if it left the finite
numbers or ended no better than a constant answer. Book: 13.5, 13.7.
"""
