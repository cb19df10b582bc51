"""What is shown of a factorization, before anything is drawn: order, grids, support, errors."""
