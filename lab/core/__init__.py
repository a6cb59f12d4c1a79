"""What everything stands on, without torch: errors and exit codes, params.yaml, files written
whole, curves, languages.
"""
