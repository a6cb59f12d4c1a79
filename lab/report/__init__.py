"""What the page is made of: sections, figures, and what sections on benchmarks share; no torch."""
