"""Can results be copied away while the next ones are computed, and what must a program do for that?

The notes time 50 products, the copies of their results to the host, and both with
`non_blocking=True`, and call the saving overlap. Their printed numbers give an overlap fraction of
1.46 where 1 is the most there can be. Here each variant is timed side by side with its own parts:
pageable memory; the book's call, which allocates pinned memory each time; pinned buffers on one
stream; pinned buffers on a second stream with an event per result; both directions at once. What is
copied takes as long as the products, the only point where overlap can halve the time, or
(`balanced: false`) is their results, as in the notes. Without a GPU a copying thread runs beside
the computing one, and the GPU's variants are skipped. When in a backward pass each gradient of the
notes' LeNet is ready shows what there is to move meanwhile.

The overlap fraction is (t1 + t2 - T) / min(t1, t2). A variant whose interval lies outside [0, 1]
is marked wrong. On a GPU the matrices grow until a product takes many times as long as its launch:
else nothing could overlap (lab/timing/bench.py). Read `reports/bench_overlap/rows.csv`, one sample
per fresh process. Book: 13.3.
"""
