"""Records of games, players and their levels, the referee, contests, traces of a search."""
