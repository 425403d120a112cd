"""The effect of applying objects."""
