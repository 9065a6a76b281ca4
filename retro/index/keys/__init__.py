"""Any game: canonical keys of one or two words, sorted and merged."""
