"""What does a learning-rate schedule buy?

The schedules of the book, and two more, are drawn and used to train LeNet. The rate is set before
each step. One more run follows the book's loop, which sets the rate only after each epoch: its
first epoch runs at the full rate and its second, with warm-up, at rate 0. Then the highest learning
rate at which a network still learns is searched by bisection, for each random seed, with the notes'
warm-up and without it. The profile `study` also does this for ResNet-18. A run has diverged if its
loss is infinite, or if it ends no better than always giving the same answer.

The page is stages/schedules/page/en.md. The measurements are reports/schedules/rows.csv, a row for
each sample, where x is the epoch of a drawn schedule or the step of a loss. Accuracies and highest
rates have a sample for each random seed. Book: 12.11.
"""
