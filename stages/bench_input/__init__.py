"""How fast do images arrive, and where does the time of a training step go?

The book's loader makes a PIL image and a float tensor of each image, in four workers that start
anew each epoch. Beside it: workers that stay and pin memory, no workers, and the whole set resident
as bytes on the device, picked and scaled there. Each pass is split at its first batch, so that an
epoch of all 60,000 images can be told from a shorter pass: starting workers costs once, not per
image.

Then a step of LeNet and of ResNet-18, part by part, with the book's loader and with resident
images. The text of 13.5 blames Python for two GPUs being no faster than one; here each part has its
number. Read `reports/bench_input/rows.csv`, one row per sample. Book: 13.5.
"""
