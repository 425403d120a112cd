"""What would make a claim set fit: changes that are worth trying, tried one by one and together."""
