"""The two data sets: fetched or drawn, checked, read, and put in order as tensors."""
