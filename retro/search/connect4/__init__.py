"""The engine of Connect Four: one node loop, exact bounds, tables as perfect leaves."""
