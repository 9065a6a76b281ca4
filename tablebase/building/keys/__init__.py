"""What differs between builds of sorted keys and others."""
