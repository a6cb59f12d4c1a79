"""How long is a step on several devices?

The notes say that a data-parallel step takes max(t1, t2): t1 to compute, t2 to send and receive.
Several processes train LeNet and ResNet-18 by hand, with the notes' star or a ring as all-reduce,
tensor by tensor or as one bucket. Alternating with the steps, their parts are timed: steps without
communication, joining a bucket, single messages, and all-reduces of made-up tensors right after a
computation, when receivers have to be woken. From the parts of each process start the steps of that
start are predicted, as t1 + t2 (no overlap) and as max(t1, t2) (perfect overlap).

Formulas alone simulate ResNet-50 on up to 100,000 GPUs beside published runs: those rows have
device_kind `simulated`. What is timed is in `measure/steps.py`, the model in
`measure/step_model.py`, predictions in `measure/predictions.py`.

Read `reports/scaling/rows.csv`, one row per sample. Book: 13.5, 13.6, 13.7.
"""
