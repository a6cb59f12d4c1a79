"""Commands beside the stages: `python -m lab.tools.NAME`."""
