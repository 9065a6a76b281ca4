"""Connect Four: colourings of two halves of a board; the rank of a position is computed."""
