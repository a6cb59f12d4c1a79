"""Which update rule is better, and when does the ranking mean something?

On quadratics: the notes' traces on 0.1 x1² + 2 x2² with their rates, then the same from many starts
and turned by 45 degrees; the measured stability of momentum against the closed form
0 < lr lambda < 2 + 2 beta. On regressions: the notes' airfoil runs against the exact minimum over
many seeds, from scratch and with torch's own optimizers; what momentum and AdaGrad keep of
gradients, and what Adam's correction of its averages does; a sweep of rates for every rule, also on
two problems on which the rules do differ, one of them with rare features. Rates are chosen with
other seeds than those that judge them. Last come LeNet for a short budget and the time of its
steps.

Read `reports/optimizers/rows.csv`: per experiment and series, points (x, y) with the band of the
middle half of the seeds; in the experiments "by seed" x is the seed and y its value, which is what
is paired. Only the rows of `step_time` are times, in ms by start of the process. Book: 12.3 to
12.10.
"""
