"""Compiled loops of the rivals."""
