"""What stages leave in rows.csv, the findings that follow, and their statistics; no torch."""
