"""What everything stands on, without torch: errors, exit codes, params.yaml, files."""
