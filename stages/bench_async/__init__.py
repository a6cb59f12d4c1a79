"""Does a call return before its result is there, and how wrong is a clock that does not know?

A GPU takes work into a queue, so that a call returns at once and Python runs ahead; on a CPU torch
computes within the call, and the two times must agree. Several fresh processes measure the time
until a matrix product's call returns and until its result is there; a series of many small
operations, waited for after each one and once at the end; what each thing that makes Python wait
costs; by how much each mistake in timing would have been wrong, the notes' own comparison of numpy
(float64) with torch (float32, random numbers inside the clock, no waiting) among them; the back
end's share of the time of the notes' programs; on a GPU, whether a stream keeps an order that
another, which waits for no event, loses. There the largest product and the series' operation grow
until they take many times as long as their launch: else Python would have nothing to run ahead of
(lab/timing/bench.py).

Read `reports/bench_async/rows.csv`, one sample per fresh process. Book: 13.2.
"""
