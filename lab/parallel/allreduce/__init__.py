"""Sums of tensors over processes: by messages written out, and their times."""
