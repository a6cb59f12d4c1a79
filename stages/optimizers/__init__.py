"""Which update rule is better, and when does the ranking mean something?

On quadratics: the notes' traces on 0.1 x1² + 2 x2² with their rates, then the same from many starts
and turned by 45 degrees; the measured stability of momentum against the closed form
0 < lr lambda < 2 + 2 beta. On regressions: the notes' airfoil runs against the exact minimum over
many seeds, from scratch and with torch's own optimizers; what momentum and AdaGrad keep of
gradients, and what Adam's correction of its averages does; a sweep of rates for every rule, also on
two problems on which the rules do differ, one of them with rare features. Rates are chosen with
other seeds than those that judge them. Last come LeNet for a short budget and the time of its
steps.

Read `reports/optimizers/rows.csv`: a row for each sample, which is a seed's; seeds are what is
paired. Only the rows of `step_time` are times, in ms, a sample from each fresh process. Book: 12.3
to 12.10.
"""
