"""The report: one page about a factorization that opens in any browser, offline."""
