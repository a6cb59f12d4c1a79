"""How fast do images arrive, and where does the time of a training step go?

The book's loader makes a PIL image and a float tensor of each image, in four workers that start
anew each epoch. Beside it: workers that stay and pin memory, no workers, and the whole set resident
as bytes on the device, picked and scaled there. The book's loader and resident images pass whole
epochs; the other two a part of one, and only their rate is told.

Then a step of LeNet part by part, fed in three ways, and of ResNet-18 with resident images; what
preparing a batch takes apart from reading it; and a step as the notes write it against its own
calls on next to nothing, which is what Python and the framework take of it: the text of 13.5 blames
that for two GPUs being no faster than one.

Read `reports/bench_input/rows.csv`, a row for each fresh process. Book: 13.5.
"""
