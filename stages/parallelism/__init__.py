"""What do several devices send each other and hold in a step, and which networks bear it?

In `reports/parallelism/rows.csv` x is images per step; a pipeline without `micro_batches` has those
of params.yaml. Book: 13.5, 13.7.
"""
