"""What do learning-rate schedules buy, and does warm-up prevent divergence?

Every schedule of the book and two more are drawn, and tried on LeNet. Then warm-up is put to the
test that the book's code never makes: it sets the rate only after the epoch, so that its first
epoch runs at the full rate and its second, with warm-up, at rate 0. Here schedules are read before
each step. The highest rate at which a net still learns is searched by bisection, for each seed,
with the notes' warm-up and without it; the profile `study` does so for ResNet-18, too.

A run has diverged if its loss is infinite, or if it ends no better than a constant answer's.

Read `reports/schedules/rows.csv`: a row for each sample; x is the epoch of a drawn schedule, or the
step of a loss. Accuracies and highest rates have a sample for each seed. Book: 12.11.
"""
