"""What objects would do if they were applied."""
