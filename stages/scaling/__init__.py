"""How long does a step take on several devices, and do its parts predict it?

The notes say that a data-parallel step takes max(t1, t2): t1 to compute, t2 to send and receive.
Steps of LeNet and ResNet-18 are taken by processes that train by hand, and sum gradients by the
notes' star or by a ring; in turn with them their parts are timed: steps without communication,
single messages (one after the other, and after a computation, whose first message finds the
processors busy or asleep), an addition, the joining of a bucket. From the parts of each start of
the processes the steps of that start are predicted: t1 + t2, since the notes' code sums after the
backward pass, and max(t1, t2), the bound of perfect overlap. An error is that of a start, and so is
each of the ratios at the notes' own batches: one device against several, what
DistributedDataParallel hides, what gradients 16 times as large cost. Where ResNet-18's batch
takes minutes, a line through smaller ones stands for its computing.

The same model also simulates what up to 1024 such devices would do on published interconnects:
those rows have device_kind `simulated`. Read `reports/scaling/rows.csv`, one row per sample. Book:
13.5, 13.6, 13.7.
"""
