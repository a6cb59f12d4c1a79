"""The names of `bench_input`'s variants in its rows."""

BOOK, PERSISTENT = "the book's loader", "persistent workers"
NO_WORKERS, RESIDENT = "no workers", "kept in memory"

FEEDS = {"lenet": (BOOK, NO_WORKERS, RESIDENT), "resnet18": (RESIDENT,)}  # of each network's step
PARTS = ("load", "transfer", "forward", "backward", "all-reduce", "update")
WHOLE = "whole step"
