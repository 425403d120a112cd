"""What a rule of `validate` is about."""
