"""The clock, and variants timed side by side."""
