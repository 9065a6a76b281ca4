"""A plain alpha-beta that does not know the game, rung by rung; it solves large boards."""
