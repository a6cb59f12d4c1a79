"""What does summing gradients over processes cost, and does a model of messages predict it?

Four all-reduce algorithms written out over messages (star, the notes' way; ring; tree;
halving-doubling) and torch.distributed's own take turns among real processes, with messages from a
few bytes to many megabytes; so do a message to and fro, and an addition. LeNet's and ResNet-18's
lists of gradients are summed tensor by tensor, as the notes do, and in one bucket. The processes
are started several times, and each start gives one sample. A link (latency, bandwidth, speed of
adding) is fitted to the times of the fewest ranks in each start, twice: as if each rank had a link
of its own, and as if all shared one. The better fit then predicts the larger groups, which it has
not seen. Every sum is checked: small integers, which float32 adds exactly in any order.

Ranks are processes on this processor, or on the GPUs through NCCL where there are two or more.
Where there are more ranks than cores, a column says how many cores they share: then the ranks wait
for each other's turns, too.

Read `reports/bench_collectives/rows.csv`, one row per sample. Book: 13.5, 13.7.
"""
