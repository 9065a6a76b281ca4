"""Where a position lies: `halves` computes its place, `keys` finds it among sorted ones."""
