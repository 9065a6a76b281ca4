"""Building tables: what a build takes, who works, what it keeps, and the loop that drives it."""
