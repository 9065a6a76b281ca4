"""The walks over all positions, layer by layer, forward and back: `halves` and `keys`."""
