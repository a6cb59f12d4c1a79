"""Training: the loop, its strategies and checkpoints, short runs, the race of variants."""
