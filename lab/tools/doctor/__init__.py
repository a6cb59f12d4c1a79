"""What is wrong here, and which one command mends it? `python -m lab.tools.doctor [--fix]`."""
