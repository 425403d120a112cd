"""Where claims fit, and which devices they get."""
