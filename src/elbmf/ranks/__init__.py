"""How many components: criteria, and a path of factorizations from rank to rank (Sec. 4.1)."""
