"""The networks of the book, from scratch and by name, and what they cost in FLOP and bytes."""
