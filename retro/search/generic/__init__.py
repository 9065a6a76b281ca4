"""The engine of every game that kernels know, and the node loop of Quarto."""
