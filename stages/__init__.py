"""A folder is a question, a DVC stage, and a command: `python -m stages.NAME`."""
