"""The names of `schedules`'s experiments and variants in its rows."""

CONSTANT = "constant"
AS_THE_BOOK = "the book's loop"
NO_WARM_UP, WARM_UP = "no warm-up", "warm-up"
BASE = 0.3  # base learning rate of each schedule in the notes' figure
