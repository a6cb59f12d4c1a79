"""The rows that stages write, the findings derived from them, and their statistics; no torch."""
