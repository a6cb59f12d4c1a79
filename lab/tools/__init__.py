"""The code behind the `invoke` tasks."""
