"""The pictures of the pages: each is a function without arguments that returns a figure."""
