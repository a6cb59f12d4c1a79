"""Why is minimising hard, and is it what we want?

The minima of the book's risk and empirical risk are found numerically. Then the question is asked
again of a real empirical risk: how far apart the two minimisers lie, over many samples of n
examples. Last come vanishing gradients: how common saddles are in high dimension (eigenvalues of
random symmetric matrices), and how long optimizers stay on one.

Read `reports/landscapes/rows.csv`: per demo and series, points (x, y) with a band (low, high),
equal to y where there is none. All float64, seeded, the same on every machine. Book: 12.1.
"""
