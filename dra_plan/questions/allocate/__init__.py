"""On which nodes claims fit, and which devices they get."""
