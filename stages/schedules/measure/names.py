"""What the experiments of `schedules` and their variants are called in its rows."""

CONSTANT = "constant"
AS_THE_BOOK = "the book's loop"
NO_WARM_UP, WARM_UP = "no warm-up", "warm-up"
BASE = 0.3  # learning rate of the notes' figure, which each schedule starts from
