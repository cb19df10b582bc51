"""What takes long: fits, searches over ranks, comparisons, and the pages made of them."""
