"""What drivers publish, and what is left of it."""
