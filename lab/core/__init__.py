"""The foundation of everything else, without torch: errors, exit codes, params.yaml, files."""
