"""Compiled loops of the relaxation."""
