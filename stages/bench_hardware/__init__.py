"""What limits a network: arithmetic or memory?

Large matrix multiplications show the peak rate of a machine, large copies its memory bandwidth.
Both together make the roofline: the most that a network can reach, by the floating-point operations
(FLOP) that it does for each byte it moves. Four networks are placed under it: their FLOP and bytes
are counted, and their forward passes are timed, on a GPU if there is one, else on all CPU cores.
Around this stand what the notes' slides say of hardware: the latency of caches and memory, order
and stride of access, loops against vector operations, a matrix multiplication in four ways, number
formats, kernel launches, and copying results between CPU and GPU. Rows of the CPU have device_kind
`cpu`, also beside a GPU.

Read `reports/bench_hardware/rows.csv`, one sample per fresh process. Book: 13.4.
"""
