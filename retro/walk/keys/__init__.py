"""Any game: layers of sorted keys forward, their values back by binary search."""
