"""Do replicas stay one network?

Replicas of LeNet, all on the CPU, train step by step beside one LeNet that sees the whole batches.
Their weights are compared after each step: with the book's all-reduce, which writes the sum into
the gradients, and with three mistakes. These are an all-reduce that assigns to list entries (note
001), replicas without a copy of their own, and means of the means of uneven shards. For networks
with batch norm, the stage measures how splitting a batch changes the gradient, the test accuracy
and the running statistics. It also records what the notes' short cells print, which of their
programs run without a GPU (1) or stop (0), and, in the profiles `study` and `full`, the accuracy of
whole trainings.

Read `reports/replicas/rows.csv`: a row for each sample; x is the training step. Accuracies and
changes of the gradient have a sample for each random seed. Book: 13.5, 13.6.
"""
