"""Any game: families of keys forward from one another, their values back."""
