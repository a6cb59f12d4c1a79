"""Training: the loop, its strategies and checkpoints, short runs, and the race of ways to train."""
