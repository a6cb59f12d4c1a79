"""Measure a machine that is available for minutes: one visit, without DVC or a network."""
