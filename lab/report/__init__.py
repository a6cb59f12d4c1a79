"""What pages are made of: texts with values, numbers, plots, verdicts in words; no torch."""
