"""Tables of computed ranks (Connect Four): their format, plan, build, answers and check."""
