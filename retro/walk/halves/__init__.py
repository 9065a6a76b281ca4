"""Connect Four: bit planes, 64 positions an instruction, one profile of a mirror pair."""
