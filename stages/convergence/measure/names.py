"""What the experiments of `convergence` and their variants are called in its rows."""

from lab.core.shared_params import Stem

LENET, RESNET18 = NETS = "lenet", "resnet18"

# rules for the rate of plain SGD at a larger batch
FIXED, SCALED = "same learning rate", "scaled learning rate"
RULES = (FIXED, SCALED)

# optimizers, each at its best rate
MOMENTUM, LARS = "momentum", "LARS"

# ResNet-18's stems: the notes', and the original one
STEMS: tuple[Stem, Stem] = ("small", "original")

NOTES_BATCH, SMALL_BATCH = 256, 16  # images of the notes' pixels, timed in turn
PLAIN = "plain SGD"  # of what is timed, and of short runs
