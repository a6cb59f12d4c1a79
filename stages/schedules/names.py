"""The names of the demos, schedules, arms and metrics of `schedules`, and what its runs share."""

# demos
SCHEDULE = "schedule"  # rates over epochs
LOSS, ACCURACY = "schedule_loss", "schedule_accuracy"  # of each schedule, over seeds
FAILURES, ACCURACY_BY_RATE = "warm_up_failures", "warm_up_accuracy"  # of each arm, by base rate

# schedules
CONSTANT = "constant"
SQUARE_ROOT = "square root"
FACTOR = "factor 0.9"
MULTI_STEP = "multi-step"
COSINE = "cosine"
COSINE_WARM_UP = "cosine, warm-up"
INVERSE_SQRT_WARM_UP = "inverse sqrt, warm-up"
ONE_CYCLE = "one-cycle"
AS_THE_BOOK = "warm-up as the book applies it"  # also an arm

# arms of the test of warm-up, with AS_THE_BOOK
NO_WARM_UP, WARM_UP = "no warm-up", "warm-up"

TEST_IMAGES = 2000

# metrics; an accuracy has its spread over the seeds beside it, as x_iqr
BEST_SCHEDULE = "best_schedule"  # without AS_THE_BOOK
BEST_ACCURACY, CONSTANT_ACCURACY = "best_accuracy_percent", "constant_accuracy_percent"
FAILED_PERCENT = {
    NO_WARM_UP: "no_warm_up_failed_percent",
    WARM_UP: "warm_up_failed_percent",
    AS_THE_BOOK: "as_the_book_failed_percent",
}
