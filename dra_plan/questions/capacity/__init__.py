"""How many copies of a pod there is room for."""
