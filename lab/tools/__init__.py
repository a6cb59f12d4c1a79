"""What the tasks of `invoke` call."""
