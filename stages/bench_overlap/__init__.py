"""Can copying overlap with computing?

The notes time 50 matrix multiplications, the copies of their results to the CPU, and both with
`non_blocking=True`. By the times that the book prints, the overlap is 1.46, where 1 is the most
there can be. This stage times each way to copy beside its own parts, computing only and copying
only: pageable memory, the notes' call, pinned memory on one stream, pinned memory on a second
stream with an event for each result, and both directions concurrently. Without a GPU a second
thread copies, and the ways that need a GPU are skipped.

A copy takes as long as a multiplication, where overlap can save most, or (`balanced: false`) only
the results are copied, as in the notes. The overlap is (t1 + t2 - T) / min(t1, t2); a variant whose
interval lies outside [0, 1] is marked as impossible. When each gradient of the notes' LeNet is
ready shows what there is to copy during a backward pass.

Read `reports/bench_overlap/rows.csv`, one sample per fresh process. Book: 13.3.
"""
