"""How many epochs does the same accuracy take at a larger batch, and does a larger rate help?

LeNet is trained to a test accuracy at batches from small to large, with the rate kept, scaled with
the batch, and scaled with warm-up, from several seeds. The time of an image at each batch size,
measured side by side on one device, turns epochs into seconds.

Read `reports/convergence/rows.csv`: per demo and series, points (x, y). A run that did not reach
the target has no y, and `diverged` 1 if it left the finite numbers or ended no better than a
constant answer. Book: 13.5, 13.7.
"""
