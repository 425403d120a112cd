"""How many copies of a pod fit."""
