"""Does compiling make a network faster, and when does it pay off?

The notes time 1000 calls of a small network (512-256-128-2) with and without TorchScript. Here the
same network is compiled in up to six ways and timed beside eager mode, at several batch sizes, with
several fresh processes as samples. Each form is also built once from empty caches, to see after how
many calls it has paid for its build. Then: what TorchScript gains for other networks, how much of a
call is Python, what two Python threads gain, whether each form gives the same outputs after it was
saved and loaded in a new process or in a C++ program, and what a compiler that sees the whole of
the notes' first program makes of it.

A form that cannot be built here is skipped with the reason; none runs eager under its own name.
Read `reports/bench_compile/rows.csv`, one row for each sample. Book: 13.1.
"""
