"""What several commands print: tables, and the figures of matrices and results."""
