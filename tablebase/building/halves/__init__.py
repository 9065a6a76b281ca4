"""What differs between builds of Connect Four and others."""
