"""The walks over all positions of a board, layer by layer, 64 positions per instruction."""
