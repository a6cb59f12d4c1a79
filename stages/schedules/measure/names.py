"""The names of `schedules`' experiments, variants and metrics, and what its runs share."""

# experiments
SCHEDULE = "schedule"  # rates over epochs
ACCURACY = "schedule_accuracy"  # of each schedule, by seed
STABLE_RATE = "highest_stable_rate"  # of each net and variant, by seed
ONSET = "divergence_onset"  # percent of NO_WARM_UP's run before it fails at the next rate, by seed
LOSSES = "losses"  # of one seed's runs on both sides of its highest stable rate, by step

# schedules
CONSTANT = "constant"
SQUARE_ROOT = "square root"
FACTOR = "factor 0.9"
MULTI_STEP = "multi-step"
COSINE = "cosine"
COSINE_WARM_UP = "cosine, warm-up"
INVERSE_SQRT_WARM_UP = "inverse sqrt, warm-up"
ONE_CYCLE = "one-cycle"
AS_THE_BOOK = "warm-up as the book applies it"

# nets and variants of the test of warm-up
LENET, RESNET18 = "lenet", "resnet18"
NO_WARM_UP, WARM_UP = "no warm-up", "warm-up"
VARIANTS = (NO_WARM_UP, WARM_UP)
STABLE, DIVERGING = "still learns", "diverges"  # runs without warm-up

TEST_IMAGES = 2000

# metrics
NETS = "nets"  # whose highest stable rate was searched
BEST_SCHEDULE = "best_schedule"  # by the first half of the seeds, without AS_THE_BOOK
BEST_ACCURACY = "best_accuracy_percent"  # medians over the other seeds
CONSTANT_ACCURACY = "constant_accuracy_percent"


def variant_of(net: str, variant: str) -> str:
    """The series of a net's variant."""
    return f"{net}, {variant}"


def gain(net: str) -> str:
    """The metric of how many times as high a rate a net bears with warm-up; median over seeds."""
    return f"{net}_warm_up_gain"
