"""What commands print: tables, and the figures of matrices, results, searches and comparisons."""
