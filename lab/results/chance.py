"""What guesses are worth, so that no accuracy of guesses is told as a result."""

import math

NUM_CLASSES = 10  # of Fashion-MNIST
CHANCE = 1 / NUM_CLASSES  # the accuracy of guesses, and what non-finite weights are worth


def is_chance(accuracy: float, num_images: int) -> bool:
    """Return whether an accuracy is at most three standard errors above chance."""
    return accuracy <= CHANCE + 3 * math.sqrt(CHANCE * (1 - CHANCE) / num_images)
