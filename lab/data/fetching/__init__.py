"""Where the data come from, and how they are fetched: checked, bounded, one fetch at a time."""
