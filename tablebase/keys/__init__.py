"""Tables of sorted keys (every other game): their format, plan, build, answers and check."""
