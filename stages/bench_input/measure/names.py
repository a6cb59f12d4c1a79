"""The names of bench_input's experiments, variants and metrics."""

# images fed to nothing; x: images of the pass
FIRST_BATCH, IMAGES, EPOCH = "first_batch", "images", "epoch"
BOOK, PERSISTENT, NO_WORKERS = "the book's loader", "persistent, pinned workers", "no workers"
RESIDENT = "resident bytes"

# a training step of each network, part by part; x: batch size
LENET, RESNET = "LeNet", "ResNet-18"
FEEDS = {LENET: (BOOK, NO_WORKERS, RESIDENT), RESNET: (RESIDENT,)}
LOAD, TRANSFER, FORWARD, BACKWARD = "load", "transfer", "forward", "backward"
ALL_REDUCE, UPDATE = "all-reduce", "update"
PARTS = (LOAD, TRANSFER, FORWARD, BACKWARD, ALL_REDUCE, UPDATE)
WHOLE = "whole step"

PREPARATION = "preparation"  # of a batch's images, one by one; x: batch size
READ, PREPROCESS = "read", "preprocess"

PYTHON = "python"  # a step of LeNet as the notes write it; x: batch size
STEP, CALLS = "step", "its calls alone"


def step(feed: str) -> str:
    """The experiment of a training step that BOOK, NO_WORKERS or RESIDENT feeds."""
    return f"step, {feed}"


def part_of(net: str, part: str) -> str:
    """The variant of a part of a network's step, or of WHOLE."""
    return f"{net}: {part}"


# metrics; the ratio has an interval, the times have a spread: _iqr
RESIDENT_OVER_BOOK = "resident_over_book"
BOOK_EPOCH_S, RESIDENT_EPOCH_S = "the_books_loader_epoch_s", "resident_bytes_epoch_s"
BOOK_FIRST_BATCH_MS = "the_books_loader_first_batch_ms"
