"""Compiled loops that count what is shown."""
