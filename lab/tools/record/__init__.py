"""A machine that is at hand for minutes: measured in one visit, without DVC or a network."""
