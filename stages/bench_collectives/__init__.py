"""What does an all-reduce cost?

Processes (ranks) sum tensors by four all-reduce algorithms that are written out as messages (star,
which is what the notes do; ring; tree; halving-doubling), and by torch.distributed's own. Messages
have different sizes; the gradients of LeNet and ResNet-18 are summed tensor by tensor and as one
bucket. The times of the fewest ranks are fitted by a link (latency, bandwidth, speed of adding),
once as if each rank had its own and once as if all shared one. The better fit predicts the times of
more ranks, which it has not seen. Every sum is checked: small integers, which float32 adds exactly
in any order. Ranks compute on the CPU, or on GPUs through NCCL where there are two or more. Where
there are more ranks than cores, a column has the number of cores that they share.

Read `reports/bench_collectives/rows.csv`, one sample per fresh process. Book: 13.5, 13.7.
"""
