"""Compiled loops of the generator."""
