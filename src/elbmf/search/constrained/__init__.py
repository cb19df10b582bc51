"""Factors that keep to constraints: what must, may and must not be in a component.

`constraints` says what they are, and which of them cannot be met together; `search` makes factors
that keep to them from factors that do not, and exchanges components as long as that helps.
"""
