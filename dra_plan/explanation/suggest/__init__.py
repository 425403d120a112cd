"""Changes that would make a claim set fit, found by trying single changes and pairs of changes."""
