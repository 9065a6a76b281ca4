"""The perfect index: halves of a board, the layout of a layer, rank and unrank."""
