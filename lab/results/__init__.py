"""What stages leave in rows.csv, curves or measurements, and their statistics; no torch."""
