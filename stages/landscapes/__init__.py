"""Why is minimising hard, and is it what we want? Risk and empirical risk, saddles, vanishing
gradients.

Both minima of the book's risk and drawn empirical risk are found numerically, and the question is
put again with a real empirical risk: how far apart the two minimisers lie, over many samples of n
examples. Then how common saddles are in high dimension (eigenvalues of random symmetric matrices)
and how long optimizers sit on one.

Read `reports/landscapes/rows.csv`: per demo and series, points (x, y) with a band (low, high),
equal to y where there is none. All float64, seeded, the same on every machine. Book: 12.1.
"""
