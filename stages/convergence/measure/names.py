"""The names of `convergence`'s experiments and variants in its rows."""

from lab.core.shared_params import Stem

LENET, RESNET18 = NETS = "lenet", "resnet18"

# rules for the rate of plain SGD at a larger batch
FIXED, SCALED = "same learning rate", "scaled learning rate"
RULES = (FIXED, SCALED)

# optimizers, each at its best rate
MOMENTUM, LARS = "momentum", "LARS"

# ResNet-18's stems: the notes', and the original one
STEMS: tuple[Stem, Stem] = ("small", "original")

NOTES_BATCH, SMALL_BATCH = 256, 16  # images of the notes' size, alternated in timing
PLAIN = "plain SGD"  # in timings and short runs
