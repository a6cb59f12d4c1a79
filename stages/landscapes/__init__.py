"""Is the lowest training loss what we want?

Gradient descent fits a model to a few rows of the airfoil data, and we measure the error on these
rows and on the others after each number of steps. We then ask how far the minimum of a sample's
risk lies from that of the true risk, depending on the number of examples. The second half is about
flat points: what lies around them, how many directions lead down from a saddle in few and in many
dimensions, and how many steps optimizers need to leave one.

The page is stages/landscapes/page/en.md. The measurements are reports/landscapes/rows.csv, a row
for each sample. A sample is one random seed: a split of the airfoil data, or a draw. Only
`argmin_gap`, which has a thousand draws, has quantiles instead. Everything is computed in float64
from fixed seeds. Book: 12.1.
"""
