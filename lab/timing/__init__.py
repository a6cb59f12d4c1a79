"""Honest times: the clock, arms timed side by side, summaries with their intervals."""
