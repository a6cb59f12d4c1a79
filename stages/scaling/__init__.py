"""How long does a step take on several devices, and do its parts predict it?

The notes say that a data-parallel step takes max(t1, t2): t1 to compute, t2 to send and receive.
First the parts are measured apart: steps without communication, single messages, an addition, the
joining of a bucket. From them the time of other steps is predicted, written to
`reports/scaling/predictions.csv`, and only then are these steps measured, on processes that train
LeNet and ResNet-18 by hand: other batches, and gradients instead of single messages, by the notes'
star and by better all-reduces. Their code sums after the backward pass, so the prediction is
t1 + t2; max(t1, t2), the bound of perfect overlap, is compared with the measured times, too.
Messages are measured one after the other, and after a computation, whose first message finds the
processors busy or asleep.

The same model also simulates what up to 1024 such devices would do on published interconnects:
those rows have device_kind `simulated`. Read `reports/scaling/rows.csv`, one row per sample. Book:
13.5, 13.7.
"""
