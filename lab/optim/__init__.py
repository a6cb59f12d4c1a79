"""Update rules for floats, arrays and tensors alike, schedules, and functions to minimize."""
