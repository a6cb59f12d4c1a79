"""What stages leave in rows.csv: curves and measurements, and the statistics that summarise them;
no torch.
"""
