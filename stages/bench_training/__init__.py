"""How much faster than the notes' way does this engine train, and how near to what the machine can
do?

The notes' loop (torchvision's data set, ToTensor, a DataLoader, eager, torch's defaults) against
the loop of `stages.train` itself (resident bytes, of which only the pixels that LeNet's answer
depends on are computed with, channels-last memory that stays in the process), on the same
mathematics: the same layers, batches and plain SGD, the same losses but for rounding. Each variant
trains in a process of its own. All processes are new in each start, and take one long turn each, in
an order that changes from start to start: one start, one value. Of the notes' 4 and 0 workers that
race is judged with which a trial before it, whose times do not count, found the faster. The engine
takes part twice: a noise control. Products of large matrices in the same turns say what part of the
machine's peak is used, by the FLOP that the engine computes.

A turn is some steps of an epoch. What an epoch pays once, such as its loader's start, counts in
proportion, so that the result is a step of a whole epoch; in the profile `study` turns are whole
epochs. There the notes' other setting, PyTorch Lightning with the same loader (if it is installed),
and what a good engineer writes without this project race, too.

LeNet on two devices of one process: the notes' loop over the devices, a thread for each, and one
device with as many threads as each of two; with larger batches and as a wider net, too.

Read `reports/bench_training/rows.csv`, one row per start. Book: 13.5, 13.6.
"""
