"""Claims of the notes as rules in code, and the verdicts that results give them; no torch."""
