"""How long does a step take on several devices, and do its parts predict it?

The notes say that a data-parallel step takes max(t1, t2): t1 to compute, t2 to send and receive.
Steps of LeNet and ResNet-18 are taken by processes that train by hand, and sum gradients by the
notes' star or by a ring, tensor by tensor or in one bucket. In turn with them their parts are
timed: steps without communication, the joining of a bucket, single messages, an addition; and,
behind computations, lists of tensors that are no net's, since receivers have to be woken then and
find processors busy. From the parts of each start of the processes the steps of that start are
predicted: t1 + t2, since the notes' code sums after the backward pass, and max(t1, t2), the bound
of perfect overlap. A step's error is the median over the starts; beside it stands how well one half
of the rounds predicts the other. A fifth of an epoch, step after step, is predicted likewise. The
ratios at the notes' own batches are taken start by start, of one device against several. Where
ResNet-18's batch takes minutes, a line through smaller ones stands for its computing.

Formulas alone also simulate what up to 1024 such devices would do on published interconnects, and
ResNet-50 on up to 100,000 GPUs in hosts of eight, beside published runs: those rows have
device_kind `simulated`.

What is timed is in `measure/steps.py`, the model in `measure/step_model.py`, what it predicts in
`measure/predictions.py`. Read `reports/scaling/rows.csv`, one row per sample. Book: 13.5, 13.6,
13.7.
"""
