"""What users type: flags shared by commands, and those that follow from docstrings.

Nothing here imports what a command runs on, so that help comes at once.
"""
