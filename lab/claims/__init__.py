"""Claims of the notes, their rules, and the verdicts that results give them; no torch."""
