"""Suggestions that would make a claim set fit, found by trying changes one by one and in pairs."""
