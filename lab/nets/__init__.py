"""The networks of the book, from scratch and by name, and their costs in FLOP and bytes."""
