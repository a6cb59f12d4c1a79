"""What the notes claim about what `bench_hardware` measures, and the rules that decide."""

from lab.claims.needs import ON_GPU
from lab.claims.rules import FASTER, NEEDED, Range, Rule, at_least
from lab.claims.verdicts import Claim, Front, Kind, Unmeasured

MUCH = 2.0  # times
OVER_2_PERCENT = "“Faster”: the whole interval over 1.02."

CLAIMS = (
    Claim(
        "G1a",
        "13.4",
        Kind.SAID,
        "001:346",
        "The second cache takes 14 times as long to answer as the first (slide).",
        "Time of a load that waits for the one before, in 256 KiB over in 4 KiB.",
        Rule("second_cache", Range(7, 28)),
        "Half to twice the slide's factor, which is of no named processor.",
        front=Front(
            20,
            "The second cache does not take 14 times as long to answer as the "
            "first, as the notes' slide says, but {number} times.",
        ),
    ),
    Claim(
        "G1b",
        "13.4",
        Kind.SAID,
        "001:346",
        "Main memory takes 200 times as long to answer as the first cache (slide).",
        "Time of a load that waits for the one before, in the largest working set over in 4 KiB.",
        Rule("main_memory", Range(100, 400)),
        "Half to twice the slide's factor, which is of no named processor.",
    ),
    Claim(
        "G2a",
        "13.4",
        Kind.SAID,
        "001:344-346",
        "Data read in their order can be fetched ahead, which raises a processor's utilisation"
        " (slide).",
        "Loads from the largest working set, in random order over in order.",
        Rule("random_order", FASTER),
        "“Raises”: the whole interval over 1.02.",
    ),
    Claim(
        "G2b",
        "13.4",
        Kind.SAID,
        "001:344-346",
        "Data that are used again soon stay in the cache, which raises a processor's utilisation"
        " (slide).",
        "Going 8 times over data larger than the caches: over all of them each time, over 8 times"
        " over each block of 128 KiB.",
        Rule("no_reuse", FASTER),
        "“Raises”: the whole interval over 1.02.",
    ),
    Claim(
        "G2d",
        "13.4",
        Kind.ASKED,
        "001:349",
        "A matrix stored by columns is read faster column by column than row by row.",
        "Sum of a matrix stored column after column: by rows over by columns.",
        Rule("by_columns", FASTER),
        OVER_2_PERCENT,
    ),
    Claim(
        "G3b",
        "13.4",
        Kind.SAID,
        "001:350",
        "Adding two vectors number by number in a Python loop is slower than in one call (slide).",
        "10,000 numbers: the loop over the call.",
        Rule("vectorised_speedup", FASTER),
        OVER_2_PERCENT,
    ),
    Claim(
        "G3c",
        "13.4",
        Kind.SAID,
        "001:350",
        "Adding two vectors in one call is easily spread over cores (slide).",
        "A million numbers: rate on all cores over one.",
        Rule("all_cores", FASTER),
        OVER_2_PERCENT,
    ),
    Claim(
        "G4b",
        "13.4",
        Kind.SAID,
        "001:357-359",
        "A GPU's memory has more bandwidth than the processor's.",
        "Bandwidth of copies on the GPU relative to copies by all CPU cores, alternating.",
        Rule("gpu_bandwidth", FASTER),
        "“More”: the whole interval over 1.02.",
        ON_GPU,
    ),
    Claim(
        "G4d",
        "13.4",
        Kind.SAID,
        "001:363",
        "A GPU suits computations that can be made parallel on a large scale (slide).",
        "Rate of large float32 matrix multiplications on the GPU relative to all CPU cores,"
        " alternating.",
        Rule("gpu_speedup", FASTER),
        OVER_2_PERCENT,
        ON_GPU,
    ),
    Claim(
        "G5a",
        "13.4",
        Kind.SAID,
        "001:365",
        "Work is not to jump back and forth between processor and GPU.",
        "Ten matrix multiplications in a row: with each result sent to the CPU and back, relative"
        " to all on the GPU.",
        Rule("jumps", at_least(NEEDED)),
        "“Not to”: jumping takes a tenth longer, or more.",
        ON_GPU,
    ),
    Claim(
        "E2a",
        "13.6",
        Kind.ASKED,
        "000:445",
        "The notes' small stem makes a pass of ResNet-18 over 28 x 28 images much longer.",
        "A forward pass that begins with a 3 x 3 convolution of stride 1, as in the notes, relative"
        " to one that begins with the original stem, a 7 x 7 convolution of stride 2 and"
        " max-pooling of stride 2; alternating.",
        Rule("small_stem", at_least(MUCH)),
        "“Much”: at least twice as long. Counted, it computes 14 times as much.",
    ),
)

UNMEASURED = (
    Unmeasured(
        "001:362",
        "Compilers for processors and for Nvidia's GPUs are mature; on other GPUs OpenCL is as good"
        " as its vendor makes it (slide).",
        "A judgement of products; there is no other vendor's GPU to try.",
    ),
    Unmeasured(
        "001:367-380",
        "There are other processors: a phone's chip with many of them, signal processors,"
        " programmable arrays, and chips for neural networks alone.",
        "PyTorch runs on none of them here, so nothing of theirs can be timed.",
    ),
)
