"""Does compiling a network make it faster, after how many calls, and what can be saved and loaded
again?

The notes' program as text, compiled and executed, with what a compiler may fold once it sees all of
it. Then their MLP (512-256-128-2) in eight forms, from eager to ahead-of-time compiled: seconds per
call at several batch sizes, side by side; the first calls one by one, for a compiler works during
the first; how many calls it takes until compiling has paid; and whether each saved form gives the
same outputs in a new process.

The notes time 1000 calls of batch 1 once, without warm-up, and say the result proves a gain.
Compilers start from empty caches here, gradients are off wherever a form allows it, and a form that
does not build is skipped with the reason. Read `reports/bench_compile/rows.csv`, one row per
sample. Book: 13.1.
"""
