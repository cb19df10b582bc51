"""Compiled loops of the covers."""
