"""Update rules, schedules and functions to minimise, as plain numpy; no torch."""
