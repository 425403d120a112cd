"""Suggestions that would make a claim set fit: changes worth trying, tried one by one and in pairs."""
