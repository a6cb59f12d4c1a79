"""Do replicas stay one network, and what do the notes' mistakes change?

*Steps*: LeNet on virtual devices, step by step beside one device that sees whole batches (the last
of uneven shards included). The book's all-reduce adds in place and copies back: replicas stay equal
to the bit, and differ from the one device by rounding alone. Three variants from the notes do not:
all-reduce that rebinds list entries leaves the other replicas with their own gradients;
`get_params` without a copy makes all replicas one tensor, so that each gradient counts several
times; averages of each shard's mean weigh images of a smaller shard more. A sum of parameters in
place of gradients, as a note words it, is compared after one step.

*Accuracy*, in the profiles `study` and `full`: LeNet trained by the notes' recipe on one device
and, with either all-reduce, on several; every replica is tested, where the notes test the first.
*Batch norm*: it takes its statistics from each device's share, so that here several devices do
compute another gradient than one; what that does to the accuracy, as it is and with parameters of
each device's own. *Cells*: what the notes' short cells print, each as one number. *Without a GPU*:
which of the notes' programs run in a process that sees none (1) and which stop (0), with torch's
words as the remark.

Read `reports/replicas/rows.csv`: a row for each sample; x is the step. Accuracies and changes of
the gradient have a sample for each seed. Book: 13.5, 13.6.
"""
