"""Why is minimising hard, and is it what we want?

The minima of the book's risk and empirical risk are found numerically. Then the question is asked
again of a real empirical risk: how far apart the two minimisers lie, over many samples of n
examples; and of a few rows of the airfoil table, on which descent lowers the training error while
the error on other rows rises. Last come vanishing gradients: how common saddles are in high
dimension (eigenvalues of random symmetric matrices), how many ways lead down from one, and how long
optimizers stay on it.

Read `reports/landscapes/rows.csv`: a row for each sample. The samples of one x are seeds, each
another split of the airfoil table or another draw; of `argmin_gap`, which has a thousand draws,
there are quantiles. All float64 and seeded. Book: 12.1.
"""
