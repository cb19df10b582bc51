"""The seven methods that the paper compares ELBMF with, one file each."""
