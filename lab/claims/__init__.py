"""Claims from each stage's claims.yaml, and the verdicts that results give them; no torch."""
