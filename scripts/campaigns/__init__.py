"""Campaigns against the project: what anybody can do to a table, a build, a command line."""
