"""What every command shows on a terminal of 80 and of 200 columns, with the names that real clusters have."""
