"""Forward search: alpha-beta that does not know the game, and the games it is told about."""
