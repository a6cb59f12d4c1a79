"""The parts of pages: texts with values, numbers, plots, verdicts in words; no torch."""
