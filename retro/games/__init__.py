"""What games share, the catalogue, and one folder a game: rules, text, kernels, evaluations."""
