"""The two data sets: fetched or synthesized, checked, read, and ordered as tensors."""
