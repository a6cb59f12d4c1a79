"""The accuracy of guessing, so that none of it is reported as a result."""

import math

NUM_CLASSES = 10  # of Fashion-MNIST
CHANCE = 1 / NUM_CLASSES  # the accuracy of guesses, and of non-finite weights


def is_chance(accuracy: float, num_images: int) -> bool:
    """Return whether an accuracy is at most three standard errors above chance."""
    return accuracy <= CHANCE + 3 * math.sqrt(CHANCE * (1 - CHANCE) / num_images)
