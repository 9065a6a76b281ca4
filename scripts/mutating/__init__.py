"""Faults planted in a copy of the project, and what of its tests and kernels they touch."""
