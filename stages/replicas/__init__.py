"""Do replicas stay one network, and what do the notes' mistakes change?

LeNet on virtual devices, step by step beside one device that sees whole batches (the last of uneven
shards included). The book's all-reduce adds in place and copies back: replicas stay equal to the
bit, and differ from the one device by rounding alone. Three variants from the notes do not:
all-reduce that rebinds list entries leaves the other replicas with their own gradients;
`get_params` without a copy makes all replicas one tensor, so that each gradient counts several
times; averages of each shard's mean weigh images of a smaller shard more.

Then ResNet-18: batch norm takes its statistics from each device's share, so that here several
devices do compute another gradient than one. Read `reports/replicas/rows.csv`. Book: 13.5, 13.6.
"""
