"""Update rules, schedules and functions to minimize, for floats, arrays and tensors alike."""
