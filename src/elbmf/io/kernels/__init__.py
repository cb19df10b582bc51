"""Compiled loops that read text and sort what was read."""
