"""What can this machine do, and what limits a network on it: arithmetic, memory, or the trip to a
device?

What the notes' slides say of other machines, measured: latency against working set, in which the
caches show as steps; reuse, order and stride of access; a matrix product in four ways; loops
against vectors; how products and sums scale with threads and what each dtype gives; memory
bandwidth; what a kernel launch costs, and jumping between processor and GPU. Then the roofline:
networks placed by counted FLOP and bytes under what arithmetic and memory allow, with the rate they
reach; and what the notes' small stem costs ResNet-18 on small images, beside the original one. The
processor's rows have device_kind `cpu`, also beside a GPU.

Read `reports/bench_hardware/rows.csv`, a row for each fresh process. Book: 13.4.
"""
