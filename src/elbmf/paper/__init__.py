"""The reproduction of the paper: its data sets, its figures and tables, its claims.

Nothing but the command line imports this room.
"""
