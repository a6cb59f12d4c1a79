"""Which optimizer is better, and when does the ranking mean anything?

On the notes' quadratic 0.1 x1² + 2 x2², optimizers run at the notes' learning rates from many
starting directions, on the original axes and rotated by 45 degrees. Momentum's measured stability
is compared with the closed form 0 < lr · lambda < 2 + 2 beta.

On regressions, the notes' airfoil runs are repeated over many random seeds, from scratch and with
torch.optim. Every optimizer then tries many learning rates on this and two other problems, whose
features differ in scale or are rare. Seeds that judge a learning rate never helped to choose it.
Fresh processes time steps of LeNet by torch's SGD and AdaGrad.

Read `reports/optimizers/rows.csv`, a row for each sample, which is a seed's; runs are paired by
seed. Only the rows of `step_time` are times, in ms, one sample a process. Book: 12.3 to 12.10.
"""
