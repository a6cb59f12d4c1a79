"""The clock, and arms timed side by side."""
