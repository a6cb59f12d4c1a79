"""Does compiling a network make it faster, after how many calls, and what can be saved and loaded
again?

A program of the notes' structure as text, and what a compiler may fold once it sees all of it; the
notes' own text never runs. Then their MLP (512-256-128-2) in seven forms, from eager to
ahead-of-time compiled: built once from empty caches, each of the first calls timed; then, in
several fresh processes, seconds per call at several batch sizes, side by side, and 1000 calls as
the notes time them. What Python does in a call: the back end's share of the time, and
what two Python threads get done instead of one. TorchScript over several networks; and whether each
saved form gives the same outputs in a new process, and TorchScript's in a C++ program.

The notes time 1000 calls of batch 1 once, and say the result proves a gain. A form that does not
build, or not for every batch size, is skipped with the reason; none runs eager under its name. Read
`reports/bench_compile/rows.csv`, one row per sample: of what is timed, one for each process.
Book: 13.1.
"""
