"""Why is minimising hard, and is it what we want?

The minima of the book's risk and empirical risk are found numerically. Then the question is asked
again of a real empirical risk: how far apart the two minimisers lie, over many samples of n
examples; and of a few rows of the airfoil table, on which descent lowers the training error while
the error on other rows rises. Last come vanishing gradients: how common saddles are in high
dimension (eigenvalues of random symmetric matrices), how many ways lead down from one, and how long
optimizers stay on it.

Read `reports/landscapes/rows.csv`: per experiment and series, points (x, y) with a band (low,
high), the middle half of the samples, equal to y where there is none; in the experiments "by seed"
x is the seed. All float64 and seeded. Book: 12.1.
"""
