"""Which update rule is better, and when does the ranking mean something? Traces, stability,
regression, LeNet.

The notes' traces on 0.1 x1² + 2 x2² with their rates, then the same from many starts and turned by
45 degrees; the measured stability of momentum against the closed form 0 < lr lambda < 2 + 2 beta;
the notes' airfoil runs against the exact optimum over many seeds, a sweep of rates for every rule,
two problems on which the rules do differ, and LeNet for a short budget.

Read `reports/optimizers/rows.csv`: per demo and series, points (x, y) with the band of the middle
half of the seeds. Book: 12.3 to 12.10.
"""
