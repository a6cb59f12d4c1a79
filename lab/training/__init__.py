"""Training: the loop, its strategies and checkpoints, and short runs."""
