"""What happens when objects are applied."""
