"""The explanation of a rule of `validate`."""
